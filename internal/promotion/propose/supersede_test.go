package propose_test

import (
	"slices"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/state"
)

// openWith is dev with web 1.4 and an open pull request of 1.5, while 1.6 is
// offered.
func openWith(t *testing.T, settings string) *decidetest.Scenario {
	t.Helper()
	w := oneOf(t, settings)
	w.Publish("web:1.6@" + decidetest.DigestC)
	w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	w.RegistryHas("web:1.5@" + promotiontest.DigestB)
	return w
}

// expectShown wants a condition that is shown with a decision.
func expectShown(t *testing.T, d promotion.Decision, name, reason string) {
	t.Helper()
	if !slices.ContainsFunc(d.Conditions, func(c promotion.Condition) bool {
		return c.Name == name && c.Reason == reason && c.State == promotion.Pending
	}) {
		t.Errorf("no %q: %q in %+v", name, reason, d.Conditions)
	}
}

func TestSupersede_refresh(t *testing.T) {
	t.Parallel()
	w := openWith(t, "")
	w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")
	expectOnly(w, propose.StepPropose, false, "newer: web 1.4 -> 1.6")
}

// An approval pauses the refresh; one that does not count does not.
func TestSupersede_keepsApprovedPullRequest(t *testing.T) {
	t.Parallel()
	const settings = ", land: automerge, gates: {approvals: {count: 2, from: [ada, eve]}}"
	w := openWith(t, settings)
	w.Approve("promoter/dev/shop", "bob")
	w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")

	w.Approve("promoter/dev/shop", "ada")
	d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
	expectShown(t, d, "newer", "newer version waits: web 1.6, until #7 is merged or closed, which was approved by ada")
	if proposetest.Only(w).Land {
		t.Error("one approval of two")
	}
	w.Approve("promoter/dev/shop", "eve")
	if !proposetest.Only(w).Land {
		t.Error("what was approved is not merged")
	}
}

func TestSupersede_queue(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", newer: queue, land: automerge")
	d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
	expectShown(t, d, "newer", "newer version waits: web 1.6, until #7 is merged or closed")
	if !proposetest.Only(w).Land {
		t.Error("what is open is not merged")
	}
}

// A request for the newer snapshot decides.
func TestSupersede_queueEndsByRequest(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", propose: manual")
	request := state.Request{Act: promotiontest.ActOf("ada"), Snapshot: promotiontest.SnapshotOf("web:1.6@" + decidetest.DigestC).ID()}
	w.ChangeState(state.AddRequest(state.Target(w.Target("dev/shop")), request))
	w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")

	request.Snapshot = promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB).ID()
	w.ChangeState(state.RemoveRequest(state.Target(w.Target("dev/shop")), request), state.AddRequest(state.Target(w.Target("dev/shop")), request))
	w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
}

// What is open is not what the registry just offered: it is asked again, and what
// is gone, moved or not known does not land.
func TestSupersede_verifiesOpenVersion(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", newer: queue, land: automerge")
	w.Facts = promotion.Facts{}
	want := []string{"web:1.5"}
	if diff := cmp.Diff(want, w.Lookups()); diff != "" {
		t.Error(diff)
	}
	for reason, fact := range map[string]*image.Version{
		"web 1.5: not verified: the registry gave no answer":                                      nil,
		"web 1.5: image missing: no longer in the registry":                                       {},
		"web 1.5: tag moved: it now points to sha256:dddddddddddd instead of sha256:bbbbbbbbbbbb": {Digest: decidetest.DigestD},
	} {
		if fact != nil {
			w.AddFact("web", "1.5", *fact)
		}
		w.Expect("dev/shop", promotion.Waiting, reason)
		expectOnly(w, propose.StepKeep, false, reason)
		w.Facts = promotion.Facts{}
	}

	// While it is what is offered, nothing more is asked.
	w.Publish("web:1.5@" + promotiontest.DigestB)
	if got := w.Lookups(); len(got) > 0 {
		t.Error(got)
	}
}

// What is open is kept only as long as it is valid.
func TestSupersede_queueEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*decidetest.Scenario)
	}{
		{"rejected", func(w *decidetest.Scenario) { w.Reject("dev/shop", "web:1.5@"+promotiontest.DigestB) }},
		{"reverted", func(w *decidetest.Scenario) {
			w.Reverted[w.Target("dev/shop")] = []promotion.Reversion{{Component: "web", Version: promotiontest.Version("1.5@" + promotiontest.DigestB)}}
		}},
		{"changes nothing", func(w *decidetest.Scenario) {
			w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.4@"+promotiontest.DigestA))
		}},
		{"would go back", func(w *decidetest.Scenario) {
			w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.3@"+promotiontest.DigestB))
		}},
		{"not selected", func(w *decidetest.Scenario) {
			w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:nightly@"+promotiontest.DigestB))
		}},
		{"another repository", func(w *decidetest.Scenario) {
			snapshot := promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)
			snapshot["web"] = promotion.Pinned{Repository: promotiontest.Repository("other"), Version: snapshot["web"].Version}
			w.OpenPullRequest("promoter/dev/shop", 7, map[string]promotion.Snapshot{"shop": snapshot})
		}},
		{"a person's", func(w *decidetest.Scenario) {
			open := w.Open["promoter/dev/shop"]
			open.Foreign = "ada committed to it"
			w.Open["promoter/dev/shop"] = open
		}},
		{"another application's", func(w *decidetest.Scenario) {
			w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("blog", "web:1.5@"+promotiontest.DigestB))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := openWith(t, ", newer: queue")
			test.change(w)
			w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.6")
		})
	}
}

// A registry that tells less than before never brings a pull request back, and
// one component that is silent does not leave it.
func TestSupersede_neverGoesBack(t *testing.T) {
	t.Parallel()
	open := promotiontest.SnapshotsOf("shop", "web:1.6@"+decidetest.DigestC, "worker:2.1@"+promotiontest.DigestB)
	tests := []struct {
		name   string
		offers func(*decidetest.Scenario)
		want   string
	}{
		{"older", func(w *decidetest.Scenario) {
			w.Publish("web:1.5@"+promotiontest.DigestB, "worker:2.1@"+promotiontest.DigestB)
		}, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.1"},
		{"older beside newer", func(w *decidetest.Scenario) {
			w.Publish("web:1.5@"+promotiontest.DigestB, "worker:2.2@"+decidetest.DigestC)
		}, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.2"},
		{"no answer", func(w *decidetest.Scenario) {
			w.Publish("worker:2.2@" + decidetest.DigestC)
			w.Available["web"] = promotion.Available{Err: decidetest.ErrDown}
		}, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.2"},
		{"not asked", func(w *decidetest.Scenario) {
			delete(w.Available, "web")
			w.Publish("worker:2.2@" + decidetest.DigestC)
		}, "newer: web 1.4 -> 1.6, worker 2.0 -> 2.2"},
		{"newer", func(w *decidetest.Scenario) {
			w.Publish("web:1.7@"+decidetest.DigestD, "worker:2.2@"+decidetest.DigestC)
		}, "newer: web 1.4 -> 1.7, worker 2.0 -> 2.2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := oneOf(t, "")
			w.Has("dev/shop", "worker:2.0@"+promotiontest.DigestA)
			w.OpenPullRequest("promoter/dev/shop", 7, open)
			w.RegistryHas("web:1.6@"+decidetest.DigestC, "worker:2.1@"+promotiontest.DigestB)
			test.offers(w)
			w.Expect("dev/shop", promotion.Proposed, test.want)
		})
	}
}

// A child uses the whole snapshot of its parents. While that is only older than the open
// one, the pull request stays; once the parents revert the open one, it is closed.
func TestSupersede_child(t *testing.T) {
	t.Parallel()
	soaking := func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"], land: push, newer: queue}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 1h}}}
`).WithForge()
		w.Has("staging/shop", "web:1.3@"+promotiontest.DigestA)
		w.OpenPullRequest("promoter/staging/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+decidetest.DigestC))
		return w
	}
	w := soaking(t)
	w.Has("dev/shop", "web:1.5@"+decidetest.DigestC)
	w.Stood("dev/shop", 30*time.Minute, 0, "web:1.5@"+decidetest.DigestC)
	w.Stood("dev/shop", 5*time.Hour, 30*time.Minute, "web:1.4@"+promotiontest.DigestB)
	d := w.Decide("staging/shop")
	if d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleCondition {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
	if p := proposetest.Plan(w); len(p) != 1 || p[0].Step != propose.StepKeep || p[0].Land {
		t.Errorf("%v", proposetest.Summaries(p))
	}

	back := soaking(t)
	back.Has("dev/shop", "web:1.4@"+promotiontest.DigestB)
	back.Stood("dev/shop", 2*time.Hour, 0, "web:1.4@"+promotiontest.DigestB)
	back.Stood("dev/shop", 5*time.Hour, 2*time.Hour, "web:1.5@"+decidetest.DigestC)
	back.Landings[back.Target("dev/shop")][1].Reverted = true
	back.Expect("staging/shop", promotion.Proposed, "dev has: web 1.3 -> 1.4")
}
