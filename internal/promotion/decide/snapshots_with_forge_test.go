package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestPlan_tagOnlyWithForge(t *testing.T) {
	t.Parallel()
	world := func(t *testing.T, dev, trailer string) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, decidetest.Chain)
		w.Has("dev/shop", dev)
		if trailer != "" {
			w.Landed("dev/shop", promotiontest.Ago(time.Hour), time.Time{}, trailer)
		}
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "moving:released@"+promotiontest.Digest("4"))
		return w
	}
	t.Run("a trailer tells the digest", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.5.0@"+promotiontest.Digest("5"))
		d := w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
		if v, _ := promotion.MoveOf(d.Moves, "web"); v.To.Digest != promotiontest.Digest("5") {
			t.Errorf("wanted %+v", v)
		}
	})
	t.Run("the tag moved since", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.5.0@"+promotiontest.Digest("5"))
		w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.Digest("9")})
		w.Expect("staging/shop", promotion.Waiting,
			"web 1.5.0: tag moved: it now points to sha256:999999999999 instead of sha256:555555555555")
	})
	t.Run("a trailer of a moving tag", func(t *testing.T) {
		t.Parallel()
		w := world(t, "moving:released", "moving:released@"+promotiontest.Digest("5"))
		w.Expect("staging/shop", promotion.Proposed, "dev has: moving sha256:444444444444 -> sha256:555555555555")
	})
	t.Run("the trailer of the landing that brought the tag", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.5.0")
		w.Landed("dev/shop", promotiontest.Ago(2*time.Hour), promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
	})
	const unknown = "digest unknown: dev references web by the tag 1.5.0, and the registry gave no answer"
	t.Run("a tag that a user wrote has the digest of when it is first seen", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "")
		w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.Digest("5")})
		d := w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0")
		if v, _ := promotion.MoveOf(d.Moves, "web"); v.To.Digest != promotiontest.Digest("5") {
			t.Errorf("wanted %+v", v)
		}
	})
	observed := func(w *decidetest.Scenario) {
		w.State, _ = w.State.Apply(state.Observe(state.Target{Environment: "dev", Application: "shop"}, state.Observed{
			Repository: w.Targets[promotion.Target{Environment: "dev", Application: "shop"}].References[0].Repository.String(),
			Tag:        "1.5.0", Digest: promotiontest.Digest("5"), At: promotiontest.Ago(time.Hour),
		}))
	}
	t.Run("it moved since it was first seen", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "")
		observed(w)
		w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.Digest("9")})
		w.Expect("staging/shop", promotion.Waiting,
			"web 1.5.0: tag moved: it now points to sha256:999999999999 instead of sha256:555555555555; to accept it, write its digest or another tag to dev")
	})
	t.Run("it is not in the registry", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "")
		w.AddFact("web", "1.5.0", image.Version{})
		w.Expect("staging/shop", promotion.Waiting, "image missing: dev references web 1.5.0, which is not in the registry")
	})
	t.Run("the registry does not answer", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "")
		w.Expect("staging/shop", promotion.Waiting, unknown)
		observed(w)
		w.Expect("staging/shop", promotion.Waiting, "web 1.5.0: not verified: the registry gave no answer")
	})
	t.Run("a trailer of another tag", func(t *testing.T) {
		t.Parallel()
		w := world(t, "web:1.5.0", "web:1.4.9@"+promotiontest.Digest("5"))
		w.Expect("staging/shop", promotion.Waiting, unknown)
	})
	t.Run("a moving tag without a trailer", func(t *testing.T) {
		t.Parallel()
		w := world(t, "moving:released", "")
		w.Expect("staging/shop", promotion.Waiting,
			"digest unknown: dev references moving by the moving tag released without a digest")
	})
	t.Run("the same tag in both is no difference", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Has("dev/shop", "web:1.5.0")
		w.Has("staging/shop", "web:1.5.0")
		w.Expect("staging/shop", promotion.Same, "already up to date")
	})
}

func TestPlan_imageMissingWithForge(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, version, words string }{
		{"by its tag", "web:1.5.0@" + promotiontest.Digest("5"), "web 1.5.0: image missing: no longer in the registry"},
		{"by its digest", "moving:released@" + promotiontest.Digest("5"), "moving released: image missing: no longer in the registry"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Chain)
			w.Stands("dev/shop", promotiontest.Ago(time.Hour), test.version)
			w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "moving:released@"+promotiontest.Digest("4"))
			for fact, v := range w.Facts {
				if v.Digest == promotiontest.Digest("5") {
					w.Facts[fact] = image.Version{}
				}
			}
			w.Expect("staging/shop", promotion.Waiting, test.words)
		})
	}
}

// An incomplete answer proposes nothing.
func TestPlan_unverifiedImageBlocks(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	clear(w.Facts)
	w.Expect("staging/shop", promotion.Waiting, "web 1.5.0: not verified: the registry gave no answer")
}

func TestPlan_snapshotComesFromFilesAndTrailers(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Has("dev/shop", "web:1.4.0", "worker:2.0.0")
	w.Landed("dev/shop", promotiontest.Ago(time.Hour), time.Time{}, "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
	w.AddFact("worker", "2.0.0", image.Version{Digest: promotiontest.Digest("9")})
	w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
	d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	want := promotiontest.Pinned("web:1.5.0@"+promotiontest.Digest("5"), "worker:2.0.0@"+promotiontest.Digest("0"))
	if d.Snapshot.ID() != want.ID() {
		t.Errorf("snapshot %v, want %v", d.Snapshot, want)
	}
}

func TestPlan_newTagOfSameDigestWithForge(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.9@"+promotiontest.Digest("5"))
	w.Publish("web:1.5.1@" + promotiontest.Digest("5"))
	w.Expect("dev/shop", promotion.Same, "already up to date")
	w.Expect("staging/shop", promotion.Same, "already up to date")
	w.Publish("web:1.5.0@" + promotiontest.Digest("6"))
	w.Expect("dev/shop", promotion.Proposed, "newer: web sha256:555555555555 -> sha256:666666666666")
}
