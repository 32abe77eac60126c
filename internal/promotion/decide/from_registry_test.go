package decide_test

import (
	"errors"
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

func TestPlan_fromRegistry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		has    []string
		offers []string
		state  promotion.State
		reason string
	}{
		{
			"a newer version is proposed",
			[]string{"web:1.4.0"},
			[]string{"web:1.5.0@" + promotiontest.DigestB},
			promotion.Proposed, "newer: web 1.4.0 -> 1.5.0",
		},
		{
			"the present version is no difference",
			[]string{"web:1.5.0"},
			[]string{"web:1.5.0@" + promotiontest.DigestB},
			promotion.Same, "already up to date",
		},
		{
			"a moved tag is a new version",
			[]string{"web:1.5.0@" + promotiontest.DigestA},
			[]string{"web:1.5.0@" + promotiontest.DigestB},
			promotion.Proposed, "newer: web sha256:aaaaaaaaaaaa -> sha256:bbbbbbbbbbbb",
		},
		{
			"the same digest under a new tag is a new label",
			[]string{"web:1.4.0@" + promotiontest.DigestA},
			[]string{"web:1.5.0@" + promotiontest.DigestA},
			promotion.Same, "already up to date",
		},
		{
			"an older offer never downgrades",
			[]string{"web:1.5.0"},
			[]string{"web:1.4.0@" + promotiontest.DigestB},
			promotion.Same, "already at web 1.5.0, which is newer than 1.4.0",
		},
		{
			"a tag that the policy cannot order gives way",
			[]string{"web:latest"},
			[]string{"web:1.4.0@" + promotiontest.DigestB},
			promotion.Proposed, "newer: web latest -> 1.4.0",
		},
		{
			"what is not newer stays in the snapshot",
			[]string{"web:1.4.0", "worker:2.0.0"},
			[]string{"web:1.5.0@" + promotiontest.DigestB, "worker:2.0.0"},
			promotion.Proposed, "newer: web 1.4.0 -> 1.5.0",
		},
		{
			"a moving tag without its digest says nothing about what runs",
			[]string{"moving:released"},
			[]string{"moving:released@" + promotiontest.DigestB},
			promotion.Proposed, "newer: moving -> sha256:bbbbbbbbbbbb",
		},
		{
			"one of two references lags behind",
			[]string{"web:1.4.0", "web:1.5.0"},
			[]string{"web:1.5.0@" + promotiontest.DigestB},
			promotion.Proposed, "newer: web -> 1.5.0",
		},
		{
			"files without a reference",
			nil,
			[]string{"web:1.5.0@" + promotiontest.DigestB},
			promotion.NoReference, "no reference to a followed component",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.NewCheckout(t, decidetest.Chain)
			w.Has("dev/shop", test.has...)
			w.Publish(test.offers...)
			w.Expect("dev/shop", test.state, test.reason)
		})
	}
}

func TestPlan_snapshotCombinesNewAndCurrentVersions(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0", "worker:2.0.0@"+promotiontest.DigestA)
	w.Publish("web:1.5.0@" + promotiontest.DigestB)
	want := promotion.Snapshot{
		"web":    {Repository: promotiontest.Repository("web"), Version: promotiontest.Version("1.5.0@" + promotiontest.DigestB)},
		"worker": {Repository: promotiontest.Repository("worker"), Version: image.Version{Tag: "2.0.0", Digest: promotiontest.DigestA}},
	}
	if diff := cmp.Diff(want, w.Decide("dev/shop").Snapshot, cmp.AllowUnexported(image.Repository{})); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}

func TestPlan_labelIsKnownByTheRegistry(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0")
	w.Publish("web:1.5.0@" + promotiontest.DigestA)
	w.AddFact("web", "1.4.0", image.Version{Digest: promotiontest.DigestA})
	w.Expect("dev/shop", promotion.Same, "already up to date")
}

func TestPlan_movedBack(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "moving:released@"+promotiontest.DigestA)
	older := promotiontest.Version("released@" + promotiontest.DigestB)
	older.Created = promotiontest.Noon.Add(-48 * time.Hour)
	w.Available["moving"] = promotion.Available{Version: older, Found: true}
	w.Facts[promotion.Fact{Repository: promotiontest.Repository("moving"), Tag: "released", Digest: promotiontest.DigestA}] = image.Version{
		Created: promotiontest.Noon.Add(-24 * time.Hour),
	}
	const movedBack = "moved back: moving sha256:aaaaaaaaaaaa -> sha256:bbbbbbbbbbbb"
	w.Expect("dev/shop", promotion.Waiting, movedBack)

	w.Has("dev/shop", "web:1.4.0")
	w.Publish("web:1.5.0")
	d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	want := []promotion.Condition{{Name: "moving tag", State: promotion.Pending, Reason: movedBack}}
	if diff := cmp.Diff(want, d.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestPlan_registryError(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0")
	w.Has("dev/both", "web:1.4.0", "worker:2.0.0")
	w.Available["web"] = promotion.Available{Err: errors.New("quay.io does not answer")}
	w.Publish("worker:2.1.0")
	w.Expect("dev/shop", promotion.Unanswered, "web: quay.io does not answer")
	w.Expect("dev/both", promotion.Proposed, "newer: worker 2.0.0 -> 2.1.0")
}

func TestPlan_reportsMissingVersion(t *testing.T) {
	t.Parallel()
	const why = "none of 12 tags matches: 12 tags, such as main: it is not a version of select.semver"
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0")
	w.Has("dev/both", "web:1.4.0", "worker:2.0.0")
	w.Available["web"] = promotion.Available{Reason: why}
	w.Publish("worker:2.1.0")
	w.Expect("dev/shop", promotion.Waiting, "web: "+why)
	d := w.Expect("dev/both", promotion.Proposed, "newer: worker 2.0.0 -> 2.1.0")
	want := []promotion.Condition{{Name: "web", State: promotion.Pending, Reason: why}}
	if diff := cmp.Diff(want, d.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestPlan_heldVersionIsShownAndBlocksNothing(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0")
	held := promotion.Condition{Name: "web 1.6.0", State: promotion.Pending, Reason: "younger than minAge"}
	w.Available["web"] = promotion.Available{
		Version: promotiontest.Version("1.5.0@" + promotiontest.DigestB), Found: true,
		Held: []promotion.HeldVersion{{Version: promotiontest.Version("1.6.0"), Condition: held}},
	}
	d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	if diff := cmp.Diff([]promotion.Condition{held}, d.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

// What may not be taken yet is no news where it stands already.
func TestPlan_heldVersionInTheFiles(t *testing.T) {
	t.Parallel()
	held := func(v string) promotion.Available {
		return promotion.Available{
			Reason: "no version is eligible yet: younger than minAge",
			Held: []promotion.HeldVersion{{
				Version:   promotiontest.Version(v),
				Condition: promotion.Condition{Name: v, State: promotion.Pending, Reason: "younger than minAge"},
			}},
		}
	}
	tests := []struct {
		name, has, component, held string
		state                      promotion.State
		conditions                 int
	}{
		{"the tag", "web:1.6.0", "web", "1.6.0@" + promotiontest.DigestA, promotion.Same, 0},
		{"the digest", "web:1.5.9@" + promotiontest.DigestA, "web", "1.6.0@" + promotiontest.DigestA, promotion.Same, 0},
		{"an older one", "web:1.5.0", "web", "1.6.0@" + promotiontest.DigestA, promotion.Waiting, 1},
		{"another digest of the tag", "web:1.6.0@" + promotiontest.DigestB, "web", "1.6.0@" + promotiontest.DigestA, promotion.Waiting, 1},
		{"a tag without an image", "web:1.6.0", "web", "1.6.0", promotion.Waiting, 1},
		{"a moving tag whose digest is not in the files", "moving:released", "moving", "released@" + promotiontest.DigestA, promotion.Waiting, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.NewCheckout(t, decidetest.Chain)
			w.Has("dev/shop", test.has)
			w.Available[test.component] = held(test.held)
			d := w.Decide("dev/shop")
			if d.State != test.state || len(d.Conditions) != test.conditions {
				t.Errorf("%s: %s, %d conditions; want %s, %d", d.State, d.Reason, len(d.Conditions), test.state, test.conditions)
			}
		})
	}
}

// The reason that weighs most is the one of the place, whatever the order of the
// components.
func TestPlan_severalReasons(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain)
	w.Has("dev/shop", "moving:released@"+promotiontest.DigestA, "web:1.5.0", "worker:2.0.0")
	w.Available["moving"] = promotion.Available{Reason: "released: no image"}
	w.Publish("web:1.4.0")
	w.Expect("dev/shop", promotion.Waiting, "moving: released: no image")
	w.Available["worker"] = promotion.Available{Err: errors.New("quay.io does not answer")}
	w.Expect("dev/shop", promotion.Unanswered, "worker: quay.io does not answer")
}

func TestPlan_explicitVersions(t *testing.T) {
	t.Parallel()
	t.Run("is taken even if it is older", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Name("web:1.4.0")
		w.Expect("dev/shop", promotion.Proposed, "requested: web 1.5.0 -> 1.4.0")
	})
	t.Run("goes straight into a named environment", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.4.0")
		w.Has("prod/shop", "web:1.3.0")
		w.Name("web:1.5.0")
		w.Requested["prod"] = true
		w.Expect("prod/shop", promotion.Proposed, "requested: web 1.3.0 -> 1.5.0")
	})
	t.Run("goes into the root alone when none is named", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.4.0")
		w.Has("staging/shop", "web:1.4.0")
		w.Name("web:1.5.0")
		w.Expect("staging/shop", promotion.Same, "already up to date")
	})
}

func TestPlan_sameVersion(t *testing.T) {
	t.Parallel()
	const text = `
version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
applications: {shop: {sameVersion: true, settle: 2m}}
environments: {dev: {paths: ["dev/{application}"]}}
`
	t.Run("waits while one lags", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, text)
		w.Has("dev/shop", "web:1.4.0", "worker:1.4.0")
		w.Publish("web:1.5.0")
		w.Expect("dev/shop", promotion.Waiting, "sameVersion: the components have different versions: web 1.5.0, worker 1.4.0")
	})
	t.Run("goes on when all are there", func(t *testing.T) {
		t.Parallel()
		w := decidetest.NewCheckout(t, text)
		w.Has("dev/shop", "web:1.4.0", "worker:1.4.0")
		w.Publish("web:1.5.0", "worker:1.5.0")
		w.Expect("dev/shop", promotion.Waiting, "settle: not evaluated in a checkout")
		w.Requested = map[string]bool{"dev": true}
		d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0, worker 1.4.0 -> 1.5.0")
		want := []promotion.Condition{{
			Name: "settle", State: promotion.Unknown, Value: "2m",
			Reason: "not evaluated in a checkout",
		}}
		if diff := cmp.Diff(want, d.Conditions); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
	})
}
