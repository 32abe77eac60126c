package reconcile_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/act"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

func observed(t *testing.T, w *world) observe.Observation {
	t.Helper()
	o, err := readerOf(w.Reconciler()).Observe(t.Context(), observe.Start{LastAttempt: true})
	if err != nil || o.Unusable != "" {
		t.Fatalf("observe: %v, %s", err, o.Unusable)
	}
	return o
}

func readerOf(r *reconcile.Reconciler) observe.Reader {
	return observe.Reader{Clients: r.Clients, Users: r.Users, Server: r.Server}
}

// actOn carries out the plan of an observation.
func actOn(t *testing.T, w *world, o observe.Observation) (outcome.Report, bool, error) {
	t.Helper()
	r := w.Reconciler()
	done, err := act.Actor{Clients: r.Clients, Users: r.Users, Describe: r.Describe}.CarryOut(t.Context(), o, o.Plan(), true)
	return outcome.Of(done.Observation, done.Plan, done.Effects), done.Again || done.Landed, err
}

func TestObserve_readsWithoutWriting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	o := observed(t, w)
	if got := o.Promotion.Available["web"].Version.Tag; got != "1.1.0" {
		t.Errorf("the available version of web is %q", got)
	}
	if got := len(o.Promotion.Targets); got != 3 {
		t.Errorf("it observed %d targets, want 3", got)
	}
	if diff := cmp.Diff(w.Git.Branches(), o.Refs.Branches); diff != "" {
		t.Errorf("branches (-repository +observed):\n%s", diff)
	}
	if w.Git.Pushes != 0 || w.Forge.Calls["create"] != 0 {
		t.Errorf("it pushed %d times and opened %d pull requests", w.Git.Pushes, w.Forge.Calls["create"])
	}
}

func TestObserve_registryErrorIsPartial(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Registry.Down = true
	o := observed(t, w)
	if o.Promotion.Available["web"].Err == nil {
		t.Error("the version of web has no error")
	}
	for _, p := range o.Plan().Proposals {
		if p.Step != propose.StepWait {
			t.Errorf("it plans to %s without a registry", p.Step)
		}
	}
}

// A plan needs no repository, no registry and no forge.
func TestMakePlan_fromAnObservationAlone(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(repo.ConfigFile, []byte(threeEnvironments))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	repository, err := image.Parse(web + ":1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	target := promotion.Target{Environment: "dev", Application: "shop"}
	targets := map[promotion.Target]promotion.Current{target: {References: []edit.Reference{
		{Component: "web", Repository: repository.Repository, Tag: "1.0.0", Digest: "sha256:a"},
	}}}
	o := observe.Observation{Promotion: promotion.Observation{
		Config: loaded, Targets: targets, Policies: promotion.Policies(loaded, promotion.FollowedIn(loaded, maps.All(targets), promotion.Everywhere)),
		Available: map[string]promotion.Available{"web": {Found: true, Version: image.Version{Tag: "1.1.0", Version: "1.1.0", Digest: "sha256:b"}}},
	}}
	plan := o.Plan()
	if len(plan.Proposals) != 1 || plan.Proposals[0].Step != propose.StepPush || plan.Proposals[0].Decisions[0].Target != target {
		t.Errorf("the plan is %+v", plan.Proposals)
	}
}

func TestAct_keepsTheObservation(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.push(web, "1.2.0")
	o := observed(t, w)
	heads, branches, statuses, open := maps.Clone(o.Heads), maps.Clone(o.Refs.Branches), maps.Clone(o.Statuses), slices.Clone(o.Open)
	report, again, err := actOn(t, w, o)
	if err != nil || !again || report.Failed() {
		t.Fatalf("act: %v, again %v, %+v", err, again, report.Errors)
	}
	w.holds("dev", "1.2.0 1.0.0")
	for name, diff := range map[string]string{
		"heads": cmp.Diff(heads, o.Heads), "branches": cmp.Diff(branches, o.Refs.Branches),
		"statuses": cmp.Diff(statuses, o.Statuses), "pull requests": cmp.Diff(open, o.Open),
	} {
		if diff != "" {
			t.Errorf("acting changed the %s of its observation (-before +after):\n%s", name, diff)
		}
	}
}

// A plan that is older than the repository changes nothing.
func TestAct_outdatedPlanIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	o := observed(t, w)
	w.byHand("main", "prod", "1.0.0", "1.0.0 ")
	before := w.Git.Branches()
	report, _, err := actOn(t, w, o)
	if err == nil && !report.Failed() {
		t.Error("it reports no conflict")
	}
	if diff := cmp.Diff(before["main"], w.Git.Branch("main")); diff != "" {
		t.Errorf("it moved main:\n%s", diff)
	}
}
