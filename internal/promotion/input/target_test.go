package input_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// A hold and a freeze depend on the time only if a freeze ends.
func TestTarget_Held(t *testing.T) {
	t.Parallel()
	dev := state.Target(target("dev/shop"))
	until := promotiontest.Noon.Add(time.Hour)
	freeze := state.Freeze("dev", promotiontest.ByAda("frozen"), nil)
	tests := []struct {
		name          string
		change        state.Change // nil: none
		bypassFreezes bool
		want          string // the reason; empty: nothing stops it
		reads         input.Reads
	}{
		{"nothing", nil, false, "", input.UserDecisions},
		{"a hold", state.Hold(dev, promotiontest.ByAda("held")), false, "held", input.UserDecisions},
		{"a hold, bypassing freezes", state.Hold(dev, promotiontest.ByAda("held")), true, "held", input.UserDecisions},
		{"a freeze", freeze, false, "frozen", input.UserDecisions},
		{"a freeze that is bypassed", freeze, true, "", input.UserDecisions},
		{"a freeze that ends", state.Freeze("dev", promotiontest.ByAda("frozen"), &until), false, "frozen", input.UserDecisions | input.Time},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("dev/shop", "web:1.4.0")
			if test.change != nil {
				w.decides(test.change)
			}
			in, taken := w.row("dev/shop")
			held, active := in.Held(test.bypassFreezes)
			if active != (test.want != "") || held.Reason != test.want || *taken != test.reads {
				t.Errorf("%t, %q, reads %s, undeclared %s", active, held.Reason, taken, taken.Undeclared())
			}
		})
	}
}

// The decisions about some of the references, and about another environment, have what they are about.
func TestTarget_parts(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.has("dev/shop", "web:1.5.0@A", "worker:1.5.0@C")
	w.has("staging/shop", "web:1.4.0@B", "worker:1.4.0@B")
	w.decides(state.AddRequest(state.Target(target("staging/shop")), state.Request{Act: promotiontest.ByAda("")}))
	in := w.input("staging/shop")
	part := in.WithRefs(in.Refs[1:])
	var got []string
	for _, one := range []input.Target{in, part, in.In("dev"), in.WithoutRequest()} {
		text := one.Target.Environment
		for _, ref := range one.Refs {
			text += " " + ref.Component
		}
		for _, periods := range input.Latest(one) {
			for _, v := range periods[0].Versions {
				text += " " + versionText(v)
			}
		}
		if one.Request != nil {
			text += " requested"
		}
		got = append(got, text)
	}
	want := []string{
		"staging web worker 1.5.0@A 1.5.0@C requested",
		"staging worker 1.5.0@C requested",
		"dev web worker",
		"staging web worker 1.5.0@A 1.5.0@C",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	moved := part.Snapshot([]promotion.Move{{Component: "worker", To: versionOf("1.5.0@C")}})
	want = []string{"1.4.0@B", "1.5.0@C 1.5.0"}
	if diff := cmp.Diff(want, []string{versionText(moved["web"].Version), versionText(moved["worker"].Version)}); diff != "" {
		t.Errorf("what stays behind is part of the snapshot (-want +got):\n%s", diff)
	}
}

func TestHistory_Landings(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.has("dev/shop", "web:1.5.0")
	w.landed("dev/shop", landing("", 1, 0, "web:1.5.0"), landing("", 2, 1, "web:1.4.0"), landing("", 3, 2, "web:1.3.0"))
	var got []string
	for l := range w.input("dev/shop").For(ofForge).History().Landings(target("dev/shop")) {
		if got = append(got, l.Snapshot["web"].Version.Tag); len(got) == 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"1.5.0", "1.4.0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a user names on the command line counts where the user names the environment too.
func TestExplicitlyHere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ requested, explicit, checkout, explicitlyHere, named bool }{
		{false, false, false, false, false},
		{true, false, false, false, false},
		{false, true, true, false, false},
		{true, true, true, true, true},
	} {
		w := newScenario(t, chain)
		w.has("dev/shop", "web:1.4.0")
		w.Requested = map[string]bool{"dev": test.requested}
		w.Available = map[string]promotion.Available{"web": {Explicit: test.explicit}}
		w.Checkout = test.checkout
		in := w.input("dev/shop").For(ofForge)
		if got := input.ExplicitlyHere(in); got != test.explicitlyHere || in.Named() != test.named {
			t.Errorf("%+v: %t, named %t", test, got, in.Named())
		}
	}
}

// A version is verified by its tag, unless that is expected to move. Releases are looked up only where
// select takes its versions from them.
func TestFactsAboutAVersion(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.has("dev/shop", "web:1.4.0", "moving:released")
	in := w.input("dev/shop")
	web, moving := promotiontest.Repository("web"), promotiontest.Repository("moving")
	for _, test := range []struct {
		component, version string
		want               promotion.Fact
	}{
		{"web", "1.5.0@A", promotion.Fact{Repository: web, Tag: "1.5.0"}},
		{"web", "@A", promotion.Fact{Repository: web, Digest: promotiontest.DigestA}},
		{"moving", "released@A", promotion.Fact{Repository: moving, Tag: "released", Digest: promotiontest.DigestA}},
	} {
		if got := in.CurrentFact(test.component, versionOf(test.version)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.version, got, test.want)
		}
	}
	releases, semver := policyOf(t, image.Selection{Release: "github/acme/web"}), policyOf(t, image.Selection{Semver: ">=1"})
	want := promotion.Fact{Repository: web, Tag: "1.5.0", Release: "github/acme/web"}
	if fact, needed := input.ReleaseFact(web, releases, versionOf("1.5.0@A")); !needed || fact != want {
		t.Errorf("%+v, %t", fact, needed)
	}
	for _, policy := range []*image.Policy{nil, semver} {
		if _, needed := input.ReleaseFact(web, policy, versionOf("1.5.0@A")); needed {
			t.Error("nothing selects releases")
		}
	}
	if _, needed := input.ReleaseFact(web, releases, versionOf("@A")); needed {
		t.Error("a digest is no release")
	}
}
