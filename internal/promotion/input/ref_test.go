package input_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestRef_agreedIsTheMostComplete(t *testing.T) {
	t.Parallel()
	for has, want := range map[string]string{
		"1.5.0@":              "1.5.0@",
		"1.5.0@ 1.5.0@A":      "1.5.0@A",
		"1.5.0@A 1.5.0@":      "1.5.0@A",
		"@A 1.5.0@A":          "1.5.0@A",
		"1.5.0@A @A":          "1.5.0@A",
		"1.5.0@A 1.4.0@A":     "1.5.0@A",
		"1.5.0@A 1.5.0@B":     "",
		"1.5.0@ 1.4.0@":       "",
		"1.5.0@ @A":           "",
		"@A 1.5.0@A 1.5.0@":   "1.5.0@A",
		"1.5.0@ 1.5.0@A @A":   "1.5.0@A",
		"1.5.0@ 1.5.0@A @B":   "",
		"1.5.0@ 1.5.0@A 1.4@": "",
	} {
		var ref input.Ref
		for text := range strings.FieldsSeq(longDigests.Replace(has)) {
			tag, digest, _ := strings.Cut(text, "@")
			ref.Versions = append(ref.Versions, image.Version{Tag: tag, Digest: digest})
		}
		got, agreed := ref.Agreed()
		if agreed != (want != "") || agreed && versionText(got) != want {
			t.Errorf("%s: %s, %t", has, versionText(got), agreed)
		}
	}
}

// What a snapshot records of a version comes from the files, then from what landed, then from what
// is known about it. In a checkout, registries report what the files do not.
func TestNewIndex_recordedVersion(t *testing.T) {
	t.Parallel()
	landed := func(texts ...string) func(*scenario) {
		return func(w *scenario) {
			for _, text := range texts {
				w.landed("prod/shop", promotion.Landing{Snapshot: snapshotOf(text)})
			}
		}
	}
	tests := []struct {
		name   string
		has    string
		change func(w *scenario)
		want   string
	}{
		{name: "of one file", has: "web:1.5.0", want: "1.5.0@"},
		{name: "of the file that has most", has: "web:1.5.0 web:1.5.0@A", want: "1.5.0@A"},
		{name: "of the first file", has: "web:1.5.0@A web:1.5.0", want: "1.5.0@A"},
		{name: "the digest that landed", has: "web:1.5.0", change: landed("web:1.5.0@A"), want: "1.5.0@A"},
		{name: "the tag that landed", has: "web:@A", change: landed("web:1.5.0@A"), want: "1.5.0@A"},
		{name: "the digest of the file", has: "web:1.5.0@A", change: landed("web:1.5.0"), want: "1.5.0@A"},
		{name: "the tag of the file", has: "web:1.5.0@A", change: landed("web:latest@A"), want: "1.5.0@A"},
		{name: "an older landing of it", has: "web:1.5.0", change: landed("web:1.5.0", "web:1.5.0@A"), want: "1.5.0@A"},
		{name: "no older one of another", has: "web:1.5.0", change: landed("web:1.4.0@B", "web:1.5.0@A"), want: "1.5.0@"},
		{
			name: "no landing from another repository", has: "web:1.5.0", want: "1.5.0@",
			change: func(w *scenario) {
				landed("web:1.5.0@A")(w)
				snapshot := w.Landings[target("prod/shop")][0].Snapshot
				snapshot["web"] = promotion.Pinned{Repository: promotiontest.Repository("other"), Version: snapshot["web"].Version}
			},
		},
		{
			name: "described by a registry", has: "web:1.5.0@A", want: "1.5.0@A described",
			change: func(w *scenario) {
				fact := promotion.Fact{Repository: promotiontest.Repository("web"), Tag: "1.5.0", Digest: promotiontest.DigestA}
				w.Facts[fact] = image.Version{Version: "described"}
			},
		},
		{
			name: "in a checkout", has: "web:1.5.0", want: "1.5.0@A",
			change: func(w *scenario) {
				w.Checkout = true
				w.addFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestA})
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("prod/shop", strings.Fields(test.has)...)
			if test.change != nil {
				test.change(w)
			}
			if got := versionText(w.input("prod/shop").Refs[0].Recorded); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// In a checkout, what a registry reports about a moving tag is what is in the target, but it does not
// show what runs in a parent, where the tag may have been another one.
func TestNewIndex_movingTagsInACheckout(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.Checkout = true
	w.addFact("moving", "released", image.Version{Digest: promotiontest.DigestA})
	w.addFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestA})
	w.has("dev/shop", "moving:released", "web:1.5.0")
	w.has("staging/shop", "moving:released@B")
	w.has("prod/shop", "moving:released", "web:1.5.0")
	for at, want := range map[string]string{
		"dev/shop":     "released@ 1.5.0@A",
		"staging/shop": "released@B",
		"prod/shop":    "released@A 1.5.0@A",
	} {
		var got []string
		for _, ref := range w.input(at).Refs {
			got = append(got, versionText(ref.Recorded))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", at, text, want)
		}
	}
}

// A tag that a user wrote into a parent has the digest that it had when promoter first saw it there.
func TestNewIndex_observedDigest(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	for _, at := range []string{"dev/shop", "staging/shop", "prod/shop"} {
		w.has(at, "web:1.5.0")
	}
	w.addFact("web", "1.5.0", image.Version{Digest: promotiontest.DigestA})
	observed := state.Observed{Repository: promotiontest.Repository("web").String(), Tag: "1.5.0", Digest: promotiontest.DigestB}
	w.decides(state.Observe(state.Target(target("dev/shop")), observed))
	for at, want := range map[string]string{"dev/shop": "1.5.0@B", "staging/shop": "1.5.0@A", "prod/shop": "1.5.0@"} {
		if got := versionText(w.input(at).Refs[0].Recorded); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

func TestRef_Differs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		has, wanted string
		needsDigest bool
		want        bool
	}{
		{"1.5.0@A", "1.5.0@A", false, false},
		{"1.5.0@A", "1.5.0@A", true, false},
		{"1.5.0@A", "1.5.0@B", false, true},
		{"1.5.0@", "1.5.0@A", false, false},
		{"1.5.0@", "1.5.0@A", true, true},
		{"1.4.0@", "1.5.0@A", false, true},
	} {
		ref := input.Ref{Versions: []image.Version{versionOf(test.wanted), versionOf(test.has)}}
		if got := ref.Differs(versionOf(test.wanted), test.needsDigest); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

func TestIsNewer(t *testing.T) {
	t.Parallel()
	semver, moving := policyOf(t, image.Selection{Semver: ">=1"}), policyOf(t, image.Selection{Tag: "released"})
	version := func(text string, created time.Duration) image.Version {
		v := versionOf(text)
		if created != 0 {
			v.Created = promotiontest.Ago(created)
		}
		return v
	}
	tests := []struct {
		name   string
		a, b   image.Version
		policy *image.Policy
		want   bool
	}{
		{"by its number", version("1.5.0@A", 0), version("1.4.0@B", 0), semver, true},
		{"an older number", version("1.4.0@A", 0), version("1.5.0@B", 0), semver, false},
		{"the same image", version("1.5.0@A", 0), version("1.4.0@A", 0), semver, false},
		{"without select", version("1.5.0@A", 0), version("1.4.0@B", 0), nil, false},
		{"by its time", version("released@A", time.Hour), version("released@B", 2*time.Hour), moving, true},
		{"an older time", version("released@A", 2*time.Hour), version("released@B", time.Hour), moving, false},
		{"of an unknown time", version("released@A", 0), version("released@B", time.Hour), moving, false},
		{"than one of an unknown time", version("released@A", time.Hour), version("released@B", 0), moving, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := input.IsNewer(test.a, test.b, test.policy); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
	for _, pair := range [][2]image.Version{{tests[6].a, tests[6].b}, {tests[7].a, tests[7].b}} {
		if order, known := input.Compare(pair[0], pair[1], moving); known {
			t.Errorf("the order of moving tags without times is %d", order)
		}
	}
}
