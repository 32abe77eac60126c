package reconcile_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/act"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/reconcile/reconciletest"
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

func planned(t *testing.T, o observe.Observation) plan.Plan {
	t.Helper()
	made, err := o.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func readerOf(r *reconcile.Reconciler) observe.Reader {
	return observe.Reader{Clients: r.Clients, Users: r.Users, Server: r.Server}
}

// actOn carries out the plan of an observation.
func actOn(t *testing.T, w *world, o observe.Observation) (outcome.Report, bool, error) {
	t.Helper()
	r := w.Reconciler()
	done, err := act.Actor{Clients: r.Clients, Users: r.Users, Describe: r.Describe}.CarryOut(t.Context(), o, planned(t, o), true)
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
	for _, p := range planned(t, o).Proposals {
		if p.Step != propose.StepWait {
			t.Errorf("it plans to %s without a registry", p.Step)
		}
	}
}

// Over the budget of all parts, which part was refused is chance: nothing is written. The limit of one image stops
// only that image.
func TestReconcile_overBudgetWritesNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit  budget.Limit
		pushed bool
	}{
		"of all images": {budget.Limit{Total: 1}, false},
		"of one image":  {budget.Limit{Each: 1}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments+"applications: {'*': {}}\n")
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Add an application", func(all map[string]string) {
				all["dev/cart.txt"] = line(worker, "1.0.0") + "\n"
				all["dev/shop.txt"] = line(web, "1.0.0") + "\n"
			})
			w.push(web, "1.1.0")
			w.push(worker, "1.1.0")
			ctx := budget.With(t.Context(), budget.New(budget.Limits{budget.Requests: test.limit}))
			w.Registry.Fails = map[string]error{worker: budget.Spend(ctx, budget.Requests, "quay.io", 2)}
			head := w.Git.Branches()["main"]
			report, err := w.Reconciler().Reconcile(t.Context())
			if errors.Is(err, budget.ErrExhausted) == test.pushed || (w.Git.Branches()["main"] != head) != test.pushed {
				t.Errorf("error %v, main from %s to %s", err, head, w.Git.Branches()["main"])
			}
			if test.pushed && len(report.Errors) == 0 {
				t.Error("the image that was refused is no error")
			}
			if !test.pushed && (len(report.Effects) > 0 || len(w.Git.Branches()) != 1) {
				t.Errorf("effects %+v, branches %v", report.Effects, w.Git.Branches())
			}
		})
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
	made := planned(t, o)
	if len(made.Proposals) != 1 || made.Proposals[0].Step != propose.StepPush || made.Proposals[0].Decisions[0].Target != target {
		t.Errorf("the plan is %+v", made.Proposals)
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
