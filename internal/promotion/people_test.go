package promotion_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// images writes components as the state remembers them.
func images(texts ...string) map[string]string {
	found := map[string]string{}
	for component, pinned := range pinnedTo(texts...) {
		found[component] = strings.TrimSuffix(pinned.Repository.String()+":"+pinned.Version.Tag+"@"+pinned.Version.Digest, "@")
	}
	return found
}

func TestPlan_M06_rejectedByVersions(t *testing.T) {
	t.Parallel()
	const words = "web 2.0.0 was rejected by ada on 2026-11-18 (#7): leaks"
	rejecting := func(t *testing.T, place string) *world {
		t.Helper()
		w := lane(t, chain)
		w.decides(state.Reject(w.statePlace(place), state.Rejection{
			Act: byAda("leaks"), Number: 7, Images: images("web:2.0.0@"+sha("2"), "worker:2.0.0@"+sha("a")),
		}))
		return w
	}
	t.Run("a child takes no snapshot with one of them", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "staging/shop")
		w.stands("dev/shop", ago(time.Hour), "web:2.0.0@"+sha("2"), "worker:3.0.0@"+sha("3"))
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "web:1.9.0@"+sha("9"), "worker:1.9.0@"+sha("8"))
		w.stands("staging/shop", ago(time.Hour), "web:1.0.0@"+sha("1"), "worker:1.0.0@"+sha("b"))
		d := w.expect("staging/shop", promotion.Rejected, words)
		if d.Reason.Rule != promotion.RuleRejected || len(d.Moves) != 2 {
			t.Errorf("rule %s, moves %v", d.Reason.Rule, d.Moves)
		}
	})
	t.Run("a newer one goes", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "staging/shop")
		w.stands("dev/shop", ago(time.Hour), "web:2.0.1@"+sha("c"), "worker:3.0.0@"+sha("3"))
		w.stands("staging/shop", ago(time.Hour), "web:1.0.0@"+sha("1"), "worker:1.0.0@"+sha("b"))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.0.0 -> 2.0.1, worker 1.0.0 -> 3.0.0")
	})
	t.Run("a root does not replace it by an older one, and takes the others", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "dev/shop")
		w.stands("dev/shop", ago(time.Hour), "web:1.0.0@"+sha("1"), "worker:1.0.0@"+sha("b"))
		w.offers("web:2.0.0@" + sha("2"))
		w.expect("dev/shop", promotion.Rejected, words)
		w.offers("worker:3.0.0@" + sha("3"))
		d := w.expect("dev/shop", promotion.Proposed, "newer: worker 1.0.0 -> 3.0.0")
		if c := condition(t, d, "rejected"); c.Reason != words {
			t.Errorf("condition: %+v", c)
		}
		w.offers("web:2.0.1@" + sha("c"))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.0.0 -> 2.0.1, worker 1.0.0 -> 3.0.0")
	})
	t.Run("reject: nowhere", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.decides(state.Reject(state.Place{Environment: state.All, Application: state.All},
			state.Rejection{Act: byAda(""), Images: images("web:2.0.0@" + sha("2"))}))
		w.stands("dev/shop", ago(time.Hour), "web:1.0.0@"+sha("1"))
		w.stands("staging/other", ago(time.Hour), "web:1.0.0@"+sha("1"))
		w.stands("dev/other", ago(time.Hour), "web:2.0.0@"+sha("2"))
		w.offers("web:2.0.0@" + sha("2"))
		w.expect("dev/shop", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18")
		w.expect("staging/other", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18")
	})
	t.Run("P-03 resumed", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "dev/shop")
		w.stands("dev/shop", ago(time.Hour), "web:1.0.0@"+sha("1"))
		w.offers("web:2.0.0@" + sha("2"))
		w.decides(state.Resume(w.statePlace("dev/shop"), state.Act{At: noon}))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.0.0 -> 2.0.0")
	})
}

func TestPlan_P11_whatWasTakenBackIsNotProposedAgain(t *testing.T) {
	t.Parallel()
	const words = "web 1.5.0 was here before and was taken back (commit 1a2b3c4d5e6f)"
	taken := func(w *world, place string) {
		w.Taken[w.place(place)] = []promotion.Taken{{
			Component: "web", Version: version("1.5.0@" + sha("5")), Commit: "1a2b3c4d5e6f7a8b9c",
		}}
	}
	t.Run("in a root", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		taken(w, "dev/shop")
		w.offers("web:1.5.0@" + sha("5"))
		w.expect("dev/shop", promotion.Reverted, words)
		w.offers("web:1.5.1@" + sha("6"))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.1")
	})
	t.Run("in a child", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		taken(w, "staging/shop")
		w.expect("staging/shop", promotion.Reverted, words)
	})
	t.Run("by the same digest under another tag", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		taken(w, "dev/shop")
		w.offers("web:1.6.0@" + sha("5"))
		w.expect("dev/shop", promotion.Reverted, strings.Replace(words, "1.5.0", "1.6.0", 1))
	})
}

func TestPlan_S13_landedHereBefore(t *testing.T) {
	t.Parallel()
	const words = "moved back: moving sha256:666666666666 -> sha256:555555555555"
	back := func(t *testing.T) *world {
		t.Helper()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "moving:released@"+sha("6"))
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "moving:released@"+sha("5"))
		w.offers("moving:released@" + sha("5"))
		return w
	}
	t.Run("waits", func(t *testing.T) {
		t.Parallel()
		d := back(t).expect("dev/shop", promotion.Waiting, words)
		if d.Reason.Rule != promotion.RuleBackwards {
			t.Errorf("rule %s", d.Reason.Rule)
		}
	})
	t.Run("also when a person took it back", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.Landings = nil
		w.Taken[w.place("dev/shop")] = []promotion.Taken{{Component: "moving", Version: version("released@" + sha("5"))}}
		w.expect("dev/shop", promotion.Waiting, words)
	})
	t.Run("goes when the place was resumed since", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.decides(state.Resume(w.statePlace("dev/shop"), state.Act{At: noon}))
		w.expect("dev/shop", promotion.Proposed, "newer: moving sha256:666666666666 -> sha256:555555555555")
	})
	t.Run("another digest is news", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.offers("moving:released@" + sha("7"))
		w.expect("dev/shop", promotion.Proposed, "newer: moving sha256:666666666666 -> sha256:777777777777")
	})
	t.Run("in a child", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "moving:released@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "moving:released@"+sha("6"))
		w.landed("staging/shop", ago(9*time.Hour), ago(time.Hour), "moving:released@"+sha("5"))
		w.expect("staging/shop", promotion.Waiting, words)
	})
}

func TestPlan_heldAndFrozen(t *testing.T) {
	t.Parallel()
	until := noon.Add(time.Hour)
	tests := []struct {
		name   string
		change state.Change
		rule   promotion.Rule
		reason string
		until  time.Time
	}{
		{
			"held", state.Hold(state.Place{Environment: "dev", Application: "shop"}, byAda("looks odd")),
			promotion.RuleHeld, "held by ada since 2026-11-18: looks odd",
			time.Time{},
		},
		{
			"the environment is frozen", state.Freeze("dev", byAda("audit"), &until),
			promotion.RuleFrozen, "dev is frozen by ada since 2026-11-18: audit", until,
		},
		{
			"the repository is frozen", state.Freeze(state.All, byAda(""), nil),
			promotion.RuleFrozen, "the repository is frozen by ada since 2026-11-18",
			time.Time{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, chain)
			w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
			w.offers("web:1.5.0@" + sha("5"))
			w.decides(test.change)
			d := w.expect("dev/shop", promotion.Waiting, test.reason)
			if d.Reason.Rule != test.rule || !d.Reason.Until.Equal(test.until) || len(d.Moves) != 1 {
				t.Errorf("rule %s, until %v, moves %v", d.Reason.Rule, d.Reason.Until, d.Moves)
			}
		})
	}
	t.Run("nothing differs", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.offers("web:1.5.0@" + sha("5"))
		w.decides(state.Freeze("dev", byAda(""), nil))
		w.expect("dev/shop", promotion.Same, "holds this already")
	})
	t.Run("it stands before other reasons to wait", func(t *testing.T) {
		t.Parallel()
		w := lane(t, diamond)
		w.stands("a", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Hour), "web:1.6.0@"+sha("6"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.decides(state.Freeze("prod", byAda(""), nil))
		w.expect("prod", promotion.Waiting, "prod is frozen by ada since 2026-11-18")
	})
	t.Run("a record that cannot be read", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.offers("web:1.5.0@" + sha("5"))
		read, err := state.Read(maps.All(map[string][]byte{"dev/shop.json": []byte("{")}))
		if err != nil {
			t.Fatal(err)
		}
		w.State = read
		if d := w.decide("dev/shop"); d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleHeld {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
	t.Run("a freeze that ended", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.offers("web:1.5.0@" + sha("5"))
		ended := noon
		w.decides(state.Freeze("dev", byAda(""), &ended))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	})
}

func TestPlan_M07_rollback(t *testing.T) {
	t.Parallel()
	rolling := func(t *testing.T) *world {
		t.Helper()
		w := lane(t, soaking)
		w.stands("dev/shop", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.answers("web:1.4.0@" + sha("4"))
		w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{
			Act: byAda("slow"), Images: images("web:1.4.0@" + sha("4")),
		}))
		return w
	}
	t.Run("goes past conditions, order and its own hold", func(t *testing.T) {
		t.Parallel()
		d := rolling(t).expect("staging/shop", promotion.Proposed,
			"rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
		if d.Reason.Rule != promotion.RuleRollback {
			t.Errorf("rule %s", d.Reason.Rule)
		}
	})
	t.Run("past what was taken back before", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Taken[w.place("staging/shop")] = []promotion.Taken{{Component: "web", Version: version("1.4.0@" + sha("4"))}}
		w.expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
	})
	t.Run("the newer one is held until resume", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Places[w.place("staging/shop")] = promotion.Present{}
		w.Landings[w.place("staging/shop")] = nil
		w.stands("staging/shop", ago(time.Minute), "web:1.4.0@"+sha("4"))
		w.Landings[w.place("dev/shop")][0].At = ago(9 * time.Hour)
		w.expect("staging/shop", promotion.Waiting, "held by ada since 2026-11-18: slow")
		w.decides(state.Resume(w.statePlace("staging/shop"), state.Act{At: noon}))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("not past a freeze", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.decides(state.Freeze("staging", byAda("audit"), nil))
		w.expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18: audit")
	})
	t.Run("not to an image that is gone", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Facts[promotion.Fact{Repository: repository("web"), Digest: sha("4")}] = image.Version{}
		w.expect("staging/shop", promotion.Waiting, "web 1.4.0: image missing: the registry has it no more")
	})
	t.Run("by its digest, wherever its tag points now", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.fact("web", "1.4.0", image.Version{Digest: sha("9")})
		w.expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
	})
	t.Run("not where nothing is ever written", func(t *testing.T) {
		t.Parallel()
		w := lane(t, strings.Replace(soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: never", 1))
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.answers("web:1.4.0@" + sha("4"))
		w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{Act: byAda(""), Images: images("web:1.4.0@" + sha("4"))}))
		d := w.decide("staging/shop")
		if d.State != promotion.Waiting || d.Reason.Rule != promotion.RulePropose {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
	t.Run("names what it cannot read", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{
			Act: byAda(""), Images: map[string]string{"web": "quay.io/other/web:1.4.0"},
		}))
		w.expect("staging/shop", promotion.Waiting, `the rollback names "quay.io/other/web:1.4.0" for web, which is no image of it`)
	})
}

// manual asks a person before staging.
var manual = strings.Replace(soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: manual", 1)

func TestPlan_requestForAManualEnvironment(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, request state.Request) *world {
		t.Helper()
		w := lane(t, manual)
		w.stands("dev/shop", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		request.Act = byAda("")
		w.decides(state.Ask(w.statePlace("staging/shop"), request))
		return w
	}
	t.Run("nobody asked", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.State = state.State{}
		w.expect("staging/shop", promotion.Waiting, "propose is manual: waits until a person asks for it")
	})
	t.Run("the newest, while it is not bound", func(t *testing.T) {
		t.Parallel()
		d := asking(t, state.Request{}).expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
		if d.Request == nil || d.Request.By.Login != "ada" {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("the one it is bound to, though a newer one passes", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: pinnedTo("web:1.5.0@" + sha("5")).ID()})
		w.expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	})
	t.Run("bound to what is no candidate", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: "v1:other"})
		d := w.expect("staging/shop", promotion.Waiting, "propose is manual: another snapshot was asked for")
		if d.Request != nil {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("bound to what landed is done", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: pinnedTo("web:1.4.0@" + sha("4")).ID()})
		d := w.expect("staging/shop", promotion.Waiting, "propose is manual: waits until a person asks for it")
		if d.Fulfilled == nil {
			t.Error("the request is not told as done")
		}
	})
	t.Run("for the environment", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.State = state.State{}
		w.decides(state.Ask(state.Place{Environment: "staging", Application: state.All}, state.Request{Act: byAda("")}))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("nothing differs", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.Places[w.place("staging/shop")] = w.Places[w.place("dev/shop")]
		if d := w.expect("staging/shop", promotion.Same, "holds this already"); d.Fulfilled == nil {
			t.Error("the request is not told as done")
		}
	})
}

func TestPlan_M08_requestNamesVersions(t *testing.T) {
	t.Parallel()
	const ref = "quay.io/acme/web:1.4.3"
	asking := func(t *testing.T, config string) *world {
		t.Helper()
		w := lane(t, config)
		w.stands("dev/shop", ago(time.Hour), "web:1.6.0@"+sha("6"), "worker:2.1.0@"+sha("1"))
		w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
		w.stands("prod/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
		w.decides(state.Ask(w.statePlace("staging/shop"), state.Request{Act: byAda(""), With: []string{ref}}))
		w.Given = map[promotion.Place]map[string]promotion.Offer{w.place("staging/shop"): {
			"web": {Version: version("1.4.3@" + sha("3")), Found: true, Given: true},
		}}
		return w
	}
	t.Run("what is here with these, past the order", func(t *testing.T) {
		t.Parallel()
		d := asking(t, chain).expect("staging/shop", promotion.Proposed, "asked for by ada: web 1.5.0 -> 1.4.3")
		if len(d.Moves) != 1 || d.Request == nil {
			t.Errorf("moves %v, request %v", d.Moves, d.Request)
		}
	})
	t.Run("conditions of what never stood before it", func(t *testing.T) {
		t.Parallel()
		asking(t, soaking).expect("staging/shop", promotion.Waiting, "dev soak: not eligible in dev: it never stood there")
	})
	t.Run("conditions of what did", func(t *testing.T) {
		t.Parallel()
		w := asking(t, soaking)
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "web:1.4.3@"+sha("3"), "worker:1.0.0@"+sha("b"))
		w.expect("staging/shop", promotion.Proposed, "asked for by ada: web 1.5.0 -> 1.4.3")
	})
	t.Run("rejected stays rejected", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.decides(state.Reject(w.statePlace("staging/shop"), state.Rejection{Act: byAda(""), Images: images("web:1.4.3@" + sha("3"))}))
		w.expect("staging/shop", promotion.Rejected, "web 1.4.3 was rejected by ada on 2026-11-18")
	})
	t.Run("the registry has none", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Given[w.place("staging/shop")]["web"] = promotion.Offer{Reason: "the registry has no " + ref}
		w.expect("staging/shop", promotion.Waiting, "web: the registry has no "+ref)
	})
	t.Run("the registry does not answer", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Given[w.place("staging/shop")]["web"] = promotion.Offer{Err: errors.New("quay.io does not answer")}
		w.expect("staging/shop", promotion.Unanswered, "web: quay.io does not answer")
	})
	t.Run("nothing here refers to it", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Given = nil
		w.expect("staging/shop", promotion.Waiting, "ada asked for "+ref+", which nothing here refers to")
	})
	t.Run("what stands here already is done, and the place goes on", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Given[w.place("staging/shop")]["web"] = promotion.Offer{Version: version("1.5.0@" + sha("5")), Found: true, Given: true}
		d := w.expect("staging/shop", promotion.Proposed, "dev has: web 1.5.0 -> 1.6.0, worker 2.0.0 -> 2.1.0")
		if d.Fulfilled == nil || d.Request != nil {
			t.Errorf("fulfilled %v, request %v", d.Fulfilled, d.Request)
		}
	})
}
