package propose_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/state"
)

// Each way in which an open pull request comes to an end, or does not.
func TestPlan_stalePullRequests(t *testing.T) {
	t.Parallel()
	const branch = "promoter/dev/shop"
	tests := []struct {
		name    string
		prepare func(*decidetest.Scenario)
		step    propose.Step
		reason  string
	}{
		{"done by hand", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.4@"+promotiontest.DigestA))
		}, propose.StepClose, "already up to date"},
		{"the files are ahead", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.3@"+promotiontest.DigestB))
		}, propose.StepClose, "the files are newer"},
		{"rejected", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
			w.Reject("dev/shop", "web:1.5@"+promotiontest.DigestB)
		}, propose.StepClose, "web 1.5 was rejected by ada on 2026-11-18"},
		{"reverted", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
			w.Reverted[w.Target("dev/shop")] = []promotion.Reversion{{Component: "web", Version: promotiontest.Version("1.5@" + promotiontest.DigestB)}}
		}, propose.StepClose, "web 1.5 was here before and was reverted"},
		{"not selected any more", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:nightly@"+promotiontest.DigestB))
		}, propose.StepClose, "no longer selected by the config: web nightly"},
		{"the registry forgot it", func(w *decidetest.Scenario) { // a list may not be whole: it is kept
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		}, propose.StepKeep, "already up to date"},
		{"the registry does not answer", func(w *decidetest.Scenario) {
			w.Available["web"] = promotion.Available{Err: decidetest.ErrDown}
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		}, propose.StepKeep, "web: down"},
		{"the files are gone", func(w *decidetest.Scenario) {
			delete(w.Targets, w.Target("dev/shop"))
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		}, propose.StepClose, "no environment has files of shop"},
		{"the branch is away", func(w *decidetest.Scenario) {
			delete(w.Targets, w.Target("dev/shop"))
			w.Unavailable["dev"] = "no branch env/dev"
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		}, propose.StepKeep, "no branch env/dev"},
		{"no reference any more", func(w *decidetest.Scenario) {
			w.Targets[w.Target("dev/shop")] = promotion.Current{}
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		}, propose.StepClose, "no reference to a followed component"},
		{"the component left the config", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.4@"+promotiontest.DigestA, "gone:2@"+promotiontest.DigestB))
		}, propose.StepClose, "the config has no component gone any more, and nothing else differs"},
		{"the component left the files", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.4@"+promotiontest.DigestA, "worker:2@"+promotiontest.DigestB))
		}, propose.StepClose, "no file here references worker any more, and nothing else differs"},
		{"the registry has an older one now", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + decidetest.DigestC)
			w.OpenPullRequest(branch, 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
			w.RegistryHas("web:1.5@" + promotiontest.DigestB)
		}, propose.StepPropose, "newer: web 1.4 -> 1.5"},
		{"trailers that say nothing", func(w *decidetest.Scenario) {
			w.Publish("web:1.4@" + promotiontest.DigestA)
			w.OpenPullRequest(branch, 7, nil)
		}, propose.StepClose, "already up to date"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := oneOf(t, "")
			test.prepare(w)
			expectOnly(w, test.step, false, test.reason)
		})
	}
}

// What is only reported now has no pull request any more.
func TestPlan_proposeNever(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", propose: never")
	w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	expectOnly(w, propose.StepClose, false, "propose is never: the difference is only reported")
}

// A rollback that may not go on yet keeps its pull request, although it leads back.
func TestPlan_keepsRollback(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", land: automerge")
	w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.3@"+decidetest.DigestC))
	back := state.RolledBack{Act: promotiontest.ActOf("ada"), Images: map[string]string{"web": "quay.io/acme/web:1.3@" + decidetest.DigestC}}
	w.ChangeState(state.Rollback(state.Target(w.Target("dev/shop")), back))
	w.Landed("dev/shop", promotiontest.Noon.Add(-time.Hour), promotiontest.Noon, "web:1.3@"+decidetest.DigestC)
	w.RegistryHas("web:1.3@" + decidetest.DigestC)
	expectOnly(w, propose.StepPropose, true, "rolled back by ada on 2026-11-18: web 1.4 -> 1.3")
	w.ChangeState(state.Freeze("dev", promotiontest.ActOf("eve"), nil))
	expectOnly(w, propose.StepKeep, false, "dev is frozen by eve since 2026-11-18")
}

// A request for older versions stays valid although the files are ahead of them.
func TestPlan_keepsRequest(t *testing.T) {
	t.Parallel()
	w := soaked(t, "refresh")
	w.Environments = []string{"staging"}
	w.OpenPullRequest("promoter/staging/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.2@"+decidetest.DigestC))
	target := w.Target("staging/shop")
	w.ChangeState(state.AddRequest(state.Target(target), state.Request{Act: promotiontest.ActOf("ada"), With: []string{"quay.io/acme/web:1.2"}}))
	w.Explicit = map[promotion.Target]map[string]promotion.Available{
		target: {"web": {Version: promotiontest.Version("1.2@" + decidetest.DigestC), Found: true, Explicit: true}},
	}
	if p := proposetest.Only(w); p.Step != propose.StepKeep || p.Decisions[0].State != promotion.Waiting {
		t.Errorf("%s: %v", p.Decisions[0].State, proposetest.Summaries([]propose.Proposal{p}))
	}
}

// A pull request whose trailers tell nothing is kept while something is wanted.
func TestPlan_keepsPullRequestWithoutTrailers(t *testing.T) {
	t.Parallel()
	w := soaked(t, "refresh")
	w.Environments = []string{"staging"}
	w.Stood("dev/shop", time.Minute, 0, "web:1.4@"+promotiontest.DigestA)
	w.OpenPullRequest("promoter/staging/shop", 7, nil)
	if p := proposetest.Only(w); p.Step != propose.StepKeep || p.Land {
		t.Errorf("%v", proposetest.Summaries([]propose.Proposal{p}))
	}
}

// A child keeps what is open as long as an environment before it has, or had, it.
func TestPlan_childKeepsWhatItsParentHas(t *testing.T) {
	t.Parallel()
	ahead := func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := decidetest.NewCheckout(t, decidetest.Chain).WithForge()
		w.Environments = []string{"staging"}
		w.Has("dev/shop", "web:1.4@"+promotiontest.DigestA)
		w.Has("staging/shop", "web:1.4@"+promotiontest.DigestA)
		w.OpenPullRequest("promoter/staging/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
		return w
	}
	expectOnly(ahead(t), propose.StepClose, false, "no longer in any upstream environment: web 1.5")

	w := ahead(t)
	w.Landings[w.Target("dev/shop")] = []promotion.Landing{
		{Commit: "b", Snapshot: promotiontest.SnapshotOf("web:1.4@" + promotiontest.DigestA)},
		{Commit: "a", Snapshot: promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB), Reverted: true},
	}
	expectOnly(w, propose.StepClose, false, "web 1.5 was reverted in dev")
}

func TestPlan_environmentGone(t *testing.T) {
	t.Parallel()
	w := oneOf(t, "")
	w.Publish("web:1.4@" + promotiontest.DigestA)
	w.OpenPullRequest("promoter/qa/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	w.OpenPullRequest("promoter/_state", 8, nil) // not ours: a user opened it
	expectOnly(w, propose.StepClose, false, "environment qa is no longer in the config")
	if p := proposetest.Only(w); p.Environment.Name != "qa" || p.Head != "promoter/qa/shop" || p.Open.Number != 7 {
		t.Errorf("%+v", p)
	}
}

// A reconciliation of one environment leaves the others alone.
func TestPlan_environmentOutOfScope(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain).WithForge()
	w.Environments = []string{"dev"}
	w.OpenPullRequest("promoter/prod/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	if got := proposetest.Plan(w); len(got) > 0 {
		t.Errorf("%v", proposetest.Summaries(got))
	}
}

// What lands another way now leaves no pull request behind.
func TestPlan_landsAnotherWay(t *testing.T) {
	t.Parallel()
	w := oneOf(t, ", land: push")
	w.OpenPullRequest("promoter/dev/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	w.OpenPullRequest("promoter/dev/_all", 8, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
	want := []string{
		"close promoter/dev/_all []: the applications of dev now have separate pull requests",
		"close promoter/dev/shop []: shop is now pushed to dev directly",
		"land, push  [dev/shop]: newer: web 1.4 -> 1.5",
	}
	if diff := cmp.Diff(want, proposetest.Summaries(proposetest.Plan(w))); diff != "" {
		t.Error(diff)
	}
}
