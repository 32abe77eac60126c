package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// postedTo is a chain in which a pipeline posted a snapshot for dev.
func postedTo(t *testing.T, versions ...string) *decidetest.Scenario {
	t.Helper()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.0.0@"+promotiontest.Digest("0"))
	w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
	w.RegistryAnswers(versions...)
	request := state.Request{Act: promotiontest.ByAda(""), Posted: "shop-1"}
	request.By.Login = "receiver pipeline"
	var remembered []state.Version
	explicit := map[string]promotion.Available{}
	for component, pinned := range promotiontest.Pinned(versions...) {
		request.With = append(request.With, pinned.Reference())
		remembered = append(remembered, state.Version{Component: component, Tag: pinned.Version.Tag, Digest: pinned.Version.Digest})
		explicit[component] = promotion.Available{Version: pinned.Version, Found: true, Explicit: true}
	}
	w.Explicit = map[promotion.Target]map[string]promotion.Available{w.Target("dev/shop"): explicit}
	w.Decides(state.Post(w.StateTarget("dev/shop"), request, remembered))
	return w
}

func TestPlan_postedSnapshot(t *testing.T) {
	t.Parallel()
	const requested = "requested by receiver pipeline: "
	t.Run("all components move together", func(t *testing.T) {
		t.Parallel()
		w := postedTo(t, "web:1.6.0@"+promotiontest.Digest("6"), "worker:2.1.0@"+promotiontest.Digest("1"))
		d := w.Expect("dev/shop", promotion.Proposed, requested+"web 1.5.0 -> 1.6.0, worker 2.0.0 -> 2.1.0")
		if d.Request == nil || d.Request.Posted != "shop-1" {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("one component would move back", func(t *testing.T) {
		t.Parallel()
		postedTo(t, "web:1.4.3@"+promotiontest.Digest("3"), "worker:2.1.0@"+promotiontest.Digest("1")).
			Expect("dev/shop", promotion.Waiting, "would move back: web 1.5.0 -> 1.4.3")
	})
	t.Run("newer versions are there already", func(t *testing.T) {
		t.Parallel()
		d := postedTo(t, "web:1.4.3@"+promotiontest.Digest("3")).Expect("dev/shop", promotion.Same, "already up to date")
		if d.Fulfilled == nil {
			t.Error("the request is not done")
		}
	})
	t.Run("a digest that was there before", func(t *testing.T) {
		t.Parallel()
		if d := postedTo(t, "web:@"+promotiontest.Digest("4")).Decide("dev/shop"); d.State != promotion.Same || d.Fulfilled == nil {
			t.Errorf("%s: %s, fulfilled %v", d.State, d.Reason, d.Fulfilled)
		}
	})
	t.Run("an older digest, by its date", func(t *testing.T) {
		t.Parallel()
		w := postedTo(t, "web:@"+promotiontest.Digest("3"))
		w.Explicit[w.Target("dev/shop")]["web"] = dated(w.Explicit[w.Target("dev/shop")]["web"], 3)
		current := promotion.Fact{Repository: promotiontest.Repository("web"), Tag: "1.5.0", Digest: promotiontest.Digest("5")}
		w.Facts[current] = dated(promotion.Available{}, 4).Version
		if d := w.Decide("dev/shop"); d.State != promotion.Same || d.Fulfilled == nil {
			t.Errorf("%s: %s, fulfilled %v", d.State, d.Reason, d.Fulfilled)
		}
	})
	t.Run("the tag moved since it was posted", func(t *testing.T) {
		t.Parallel()
		w := postedTo(t, "web:1.6.0@"+promotiontest.Digest("6"))
		w.AddFact("web", "1.6.0", promotiontest.Version("@"+promotiontest.Digest("7")))
		w.Expect("dev/shop", promotion.Waiting, "web 1.6.0: tag moved: it now points to sha256:777777777777 instead of sha256:666666666666")
	})
	t.Run("rejected", func(t *testing.T) {
		t.Parallel()
		w := postedTo(t, "web:1.6.0@"+promotiontest.Digest("6"))
		w.Decides(state.Reject(w.StateTarget("dev/shop"), state.Rejection{Act: promotiontest.ByAda(""), Images: promotiontest.Images("web:1.6.0@" + promotiontest.Digest("6"))}))
		w.Expect("dev/shop", promotion.Rejected, "web 1.6.0 was rejected by ada on 2026-11-18")
	})
}

// What a pipeline posted without a tag goes on to the children, and the registry does not
// replace it with a version of which nothing shows that it is newer.
func TestPlan_postedDigestLanded(t *testing.T) {
	t.Parallel()
	w := postedTo(t, "web:@"+promotiontest.Digest("6"))
	w.State = w.State.With(w.StateTarget("dev/shop"), func(r *state.Record) { r.Request = nil })
	w.Explicit, w.Targets, w.Landings = nil, map[promotion.Target]promotion.Current{}, map[promotion.Target][]promotion.Landing{}
	w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:@"+promotiontest.Digest("6"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:@"+promotiontest.Digest("5"))
	w.Publish("web:1.5.1@" + promotiontest.Digest("a"))
	w.Expect("dev/shop", promotion.Same, "a pipeline posted web sha256:666666666666, and 1.5.1 is not known to be newer")
	w.Expect("staging/shop", promotion.Proposed, "dev has: web sha256:555555555555 -> sha256:666666666666")
	w.State = state.State{}
	if d := w.Decide("staging/shop"); d.State != promotion.Waiting {
		t.Errorf("not posted: %s: %s", d.State, d.Reason)
	}
}

func dated(available promotion.Available, day int) promotion.Available {
	available.Version.Created = time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)
	return available
}
