package input_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// movesText writes moves as FORM: FROM -> TO.
func movesText(moves ...promotion.Move) string {
	var texts []string
	for _, move := range moves {
		texts = append(texts, string(move.Form)+": "+versionText(move.From)+" -> "+versionText(move.To))
	}
	return strings.Join(texts, ", ")
}

func TestRewrite_writesOneVersionInAnotherForm(t *testing.T) {
	t.Parallel()
	tagOnly, digestOnly := edit.Form{Tag: true}, edit.Form{Digest: true}
	both := edit.Form{Tag: true, Digest: true}
	tests := []struct {
		name string
		has  string // references
		pin  edit.Form
		same string
		want string // the move; empty: none
	}{
		{"what no file has is not what the files have", "web:1.5.0", both, "web:1.5.0@A", "pinned: 1.5.0@ -> 1.5.0@A 1.5.0"},
		{"what one file has is", "web:1.5.0 web:1.5.0@A", both, "web:1.5.0@A", "pinned: 1.5.0@A -> 1.5.0@A 1.5.0"},
		{"without its digest", "web:1.5.0@A", tagOnly, "web:1.5.0@A", "unpinned: 1.5.0@A -> 1.5.0@A 1.5.0"},
		{"without its tag", "web:1.5.0@A", digestOnly, "web:1.5.0@A", "untagged: 1.5.0@A -> 1.5.0@A 1.5.0"},
		{"with its tag", "web:@A", both, "web:1.5.0@A", "tagged: @A -> 1.5.0@A 1.5.0"},
		{"as it is", "web:1.5.0@A", both, "web:1.5.0@A", ""},
		{"the files know the digest", "web:1.5.0@A web:1.5.0", both, "web:1.5.0", "pinned: 1.5.0@A -> 1.5.0@A 1.5.0"},
		{"nothing knows the digest", "web:1.6.0", both, "web:1.6.0", ""},
		{"nothing knows the tag", "web:@A", both, "web:@A", ""},
		{"another tag has another version", "web:v1.5.0", both, "web:1.5.0@A", "pinned: v1.5.0@ -> v1.5.0@A"},
		{"another tag counts more than a digest", "web:latest@A web:1.5.0", both, "web:1.5.0@A", "relabeled: latest@A -> 1.5.0@A 1.5.0"},
		{"the first of two tags", "web:1.4.0@A web:1.5.0@A", edit.Form{}, "web:1.5.0@A", "relabeled: 1.4.0@A -> 1.4.0@A"},
		{"the only tag", "web:@A web:1.4.0@A", both, "web:1.5.0@A", "tagged: 1.4.0@A -> 1.4.0@A"},
		{"a tag that select does not admit replaces none", "web:latest@A", edit.Form{}, "web:nightly@A", ""},
		{"the release", "candidate:1.5.0-rc.1@A", edit.Form{}, "candidate:1.5.0@A", "relabeled: 1.5.0-rc.1@A -> 1.5.0@A 1.5.0"},
		{"no prerelease of a release", "candidate:1.5.0@A", edit.Form{}, "candidate:1.5.0-rc.1@A", ""},
		{"the next prerelease", "candidate:1.5.0-rc.1@A", edit.Form{}, "candidate:1.5.0-rc.2@A", ""},
		{"another tag than the moving one", "moving:other@A", edit.Form{}, "moving:released@A", ""},
		{"without select", "unselected:latest@A", edit.Form{}, "unselected:1.5.0@A", ""},
		{"another version", "web:1.4.0@B", tagOnly, "web:1.5.0@A", ""},
		{"two versions", "web:1.4.0@B web:1.5.0@A", tagOnly, "web:1.5.0@A", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.Policies["candidate"] = policyOf(t, image.Selection{Semver: ">=1.0.0-0"})
			w.has("dev/shop", strings.Fields(test.has)...)
			if test.pin != (edit.Form{}) {
				w.pins("dev/shop", test.pin)
			}
			for _, tag := range []string{"1.5.0", "v1.5.0"} {
				w.addFact("web", tag, image.Version{Digest: promotiontest.DigestA})
			}
			in := w.input("dev/shop")
			component, version, _ := strings.Cut(test.same, ":")
			if in.Refs[0].Component != component {
				t.Fatalf("the files have no %s", component)
			}
			move, rewrites := input.Rewrite(in, in.Refs[0], versionOf(version))
			var moves []promotion.Move
			if rewrites {
				moves = append(moves, move)
			}
			if got := movesText(moves...); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// What files have besides, and is made of the version, is written again if it is not what the version makes.
func TestRewrite_writesDerivedPlacesAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		template, text string
		fixed          bool
		want           string // the move; empty: none
	}{
		{name: "the same", template: "{version}", text: "1.5.0"},
		{name: "another version", template: "{version}", text: "1.4.0", want: "derived: 1.5.0@A -> 1.5.0@A 1.5.0"},
		{name: "no version", template: "web-{tag}", text: "none", want: "derived: 1.5.0@A -> 1.5.0@A 1.5.0"},
		{name: "not known what it should have", template: "{revision}", text: "none"},
		{name: "not writable", template: "{version}", text: "1.4.0", fixed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("dev/shop", "web:1.5.0@A")
			w.addFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestA})
			at := target("dev/shop")
			current := w.Targets[at]
			derived := current.References[0]
			derived.Tag, derived.Digest, derived.Template, derived.Text, derived.Fixed = "", "", test.template, test.text, test.fixed
			current.Derived = append(current.Derived, derived)
			w.Targets[at] = current
			in := w.input("dev/shop")
			var moves []promotion.Move
			if move, rewrites := input.Rewrite(in, in.Refs[0], versionOf("1.5.0@A")); rewrites {
				moves = append(moves, move)
			}
			if got := movesText(moves...); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A reference that cannot be written as pin requires, a rejection, and an environment that promoter
// never writes each keep the form that the files have.
func TestRewrite_keepsTheForm(t *testing.T) {
	t.Parallel()
	reject := func(form bool) func(*scenario) {
		return func(w *scenario) {
			images := promotiontest.Images("web:1.5.0@" + promotiontest.DigestA)
			w.decides(state.Reject(state.Target(target("dev/shop")), state.Rejection{Act: promotiontest.ByAda(""), Images: images, Form: form}))
		}
	}
	tests := []struct {
		name   string
		config string // of dev
		change func(w *scenario)
		want   bool
	}{
		{name: "nothing prevents it", change: func(*scenario) {}, want: true},
		{name: "the version is rejected", change: reject(false)},
		{name: "the form is rejected", change: reject(true)},
		{name: "promoter never writes", config: ", propose: never", change: func(*scenario) {}},
		{name: "a reference is fixed", change: func(w *scenario) {
			w.Targets[target("dev/shop")].References[0].Fixed = true
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, afterDev("soak: 1h", test.config))
			w.has("dev/shop", "web:1.5.0")
			w.pins("dev/shop", edit.Form{Tag: true, Digest: true})
			test.change(w)
			in := w.input("dev/shop")
			_, rewrites := input.Rewrite(in, in.Refs[0], versionOf("1.5.0@A"))
			if rewrites != test.want {
				t.Errorf("rewrites %t", rewrites)
			}
		})
	}
}

// afterDev is the config of three environments, with settings of dev and conditions of staging.
func afterDev(conditions, dev string) string {
	text := strings.Replace(chain, "after: [dev]", "after: {dev: {"+conditions+"}}", 1)
	return strings.Replace(text, `"dev/{application}"]`, `"dev/{application}"]`+dev, 1)
}

// A snapshot moves the components that it has from the repositories of the files, and none of them back.
func TestMovesTo_onlyToNewerVersionsOfTheSameImages(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.has("dev/shop", "web:1.4.0", "worker:1.4.0", "moving:released", "unselected:1.4.0")
	in := w.input("dev/shop")
	snapshot := snapshotOf("web:1.5.0", "worker:1.3.0")
	snapshot["unselected"] = promotion.Pinned{Repository: promotiontest.Repository("other"), Version: promotiontest.Version("1.5.0")}
	moves := input.MovesTo(in, snapshot)
	if got := movesText(moves...); got != ": 1.4.0@ -> 1.5.0@" || moves[0].Component != "web" {
		t.Errorf("moves %s", got)
	}
}

func TestRewritesForm(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.has("dev/shop", "web:1.4.0", "worker:1.4.0@A")
	w.pins("dev/shop", edit.Form{Tag: true, Digest: true})
	var got []bool
	for _, ref := range w.input("dev/shop").Refs {
		got = append(got, ref.RewritesForm())
	}
	if diff := cmp.Diff([]bool{true, false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
