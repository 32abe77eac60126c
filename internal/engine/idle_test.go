package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/engine/enginetest"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// runs are runs of promoter with a cache: each is a new process.
type runs struct {
	*world
	idle   []byte // in the cache
	shadow bool   // each run that could end early is compared with a full one
	read   int    // how often files were read in the last run
}

// newRuns returns a repository without pull requests, after a run.
func newRuns(t *testing.T, configured string) *runs {
	t.Helper()
	files := map[string]string{}
	for _, environment := range []string{"dev", "staging"} {
		files[environment+"/shop.txt"], files[environment+"/cart.txt"] = line(web, "1.0.0")+"\n", line(worker, "1.0.0")+"\n"
	}
	r := &runs{world: &world{World: enginetest.New(configured, files), t: t}}
	r.Forge.Limits = scm.Features{}
	r.push(web, "1.0.0")
	r.push(worker, "1.0.0")
	r.run()
	return r
}

// Load implements engine.IdleRuns.
func (r *runs) Load() *engine.IdleRun {
	var idle engine.IdleRun
	if len(r.idle) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.idle, &idle); err != nil {
		r.t.Fatal(err)
	}
	return &idle
}

// Keep implements engine.IdleRuns.
func (r *runs) Keep(idle *engine.IdleRun) {
	var err error
	if r.idle, err = json.Marshal(idle); err != nil {
		r.t.Fatal(err)
	}
}

// write commits a file as a user.
func (r *runs) write(path, content string) {
	r.Git.Commit("main", enginetest.Human, r.Clock.Now(), "Write a file", func(all map[string]string) { all[path] = content })
}

// countedFiles counts how often files are read.
type countedFiles struct {
	repo.Files
	count *int
}

// At implements repo.Files.
func (f countedFiles) At(ctx context.Context, c *config.Config, commit string, environments []string) (repo.Tree, error) {
	*f.count++
	return f.Files.At(ctx, c, commit, environments)
}

// run is one run, which may fail in part.
func (r *runs) run() engine.Report {
	r.t.Helper()
	reconciler := r.Reconciler()
	r.read = 0
	reconciler.IdleRuns, reconciler.Files = r, countedFiles{reconciler.Files, &r.read}
	reconciler.Shadow = func() bool { return r.shadow }
	report, err := reconciler.Reconcile(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// ended checks whether the last run ended before it read files.
func (r *runs) ended(report engine.Report, want bool) {
	r.t.Helper()
	if read := r.read == 0; report.Idle != want || read != want {
		r.t.Errorf("ended early: %v, files read %d times; want %v", report.Idle, r.read, want)
	}
}

// states returns the decisions of a report in short.
func states(report engine.Report) (all []string) {
	for _, d := range report.Decisions {
		all = append(all, d.Environment+"/"+d.Application+" "+string(d.State)+" "+d.Reason.Message+" "+d.Snapshot.ID())
	}
	return all
}

func TestIdleRun_theNextRunEndsBeforeItReadsFiles(t *testing.T) {
	t.Parallel()
	r := newRuns(t, twoApplications)
	r.idle = nil
	full := r.run()
	r.ended(full, false)
	again := r.run()
	r.ended(again, true)
	if diff := cmp.Diff(states(full), states(again)); diff != "" {
		t.Errorf("decisions (-full +early):\n%s", diff)
	}
	if again.Config == nil || len(again.Heads) == 0 || len(again.Effects) > 0 {
		t.Errorf("the report is incomplete: %+v", again)
	}
}

func TestIdleRun_theLastCycleOfARunThatPushedLeavesOne(t *testing.T) {
	t.Parallel()
	r := newRuns(t, twoApplications)
	r.push(web, "1.1.0")
	if pushed := r.run(); len(pushed.Effects) != 2 {
		t.Fatalf("%d effects", len(pushed.Effects))
	}
	r.ended(r.run(), true)
	r.push(worker, "1.1.0") // which the last cycle did not ask for again
	if report := r.run(); len(report.Effects) != 2 {
		t.Errorf("%d effects", len(report.Effects))
	}
}

func TestIdleRun_whatChangesIsReconciled(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*runs){
		"a version":          func(r *runs) { r.push(worker, "1.1.0") },
		"a file":             func(r *runs) { r.write("dev/shop.txt", line(web, "0.9.0")+"\n") },
		"a file of no image": func(r *runs) { r.write("README", "x\n") },
		"the config":         func(r *runs) { r.edit("after: [dev]", "after: {dev: {soak: 1h}}") },
		"a user decision": func(r *runs) {
			r.decide(state.Hold(state.Target{Environment: "dev", Application: "shop"}, r.act("no")))
		},
		"a branch of ours":   func(r *runs) { r.Git.Set(promotion.HeadBranch("dev", "shop"), r.Git.Branch("main")) },
		"the registry fails": func(r *runs) { r.Registry.Down = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRuns(t, twoApplications)
			r.ended(r.run(), true)
			change(r)
			r.ended(r.run(), false)
		})
	}
}

// Lists of tags say nothing about tags that were pushed again.
func TestIdleRun_aTagThatWasPushedAgainWaitsForAFullRun(t *testing.T) {
	t.Parallel()
	r := newRuns(t, twoApplications)
	r.Registry.Push(worker, "1.0.0", "pushed again", r.Clock.Now())
	r.ended(r.run(), true)
	r.shadow = true
	if report := r.run(); report.Failed() || len(report.Effects) != 2 {
		t.Errorf("%d effects, errors %v", len(report.Effects), report.Errors)
	}
}

// What depends on the time, or on a pull request, may change without a commit or a version.
func TestIdleRun_isNotLeftByWhatMayChangeByItself(t *testing.T) {
	t.Parallel()
	r := newRuns(t, strings.Replace(twoApplications, "after: [dev]", "after: {dev: {soak: 1h}}", 1))
	r.push(web, "1.1.0")
	r.run()
	r.ended(r.run(), false) // it soaks
	r.Clock.Add(2 * time.Hour)
	if report := r.run(); len(report.Effects) != 1 {
		t.Errorf("%d effects after the soak", len(report.Effects))
	}

	reviewed := newRuns(t, strings.ReplaceAll(twoApplications, ", land: push", ""))
	reviewed.Forge.Limits = scm.Features{PullRequests: true}
	reviewed.push(web, "1.1.0")
	reviewed.run()
	reviewed.ended(reviewed.run(), false)
}

func TestIdleRun_aDifferenceToAFullReconciliationIsAnError(t *testing.T) {
	t.Parallel()
	r := newRuns(t, twoApplications)
	r.shadow = true
	if report := r.run(); !report.Idle || report.Failed() || r.read == 0 {
		t.Fatalf("%+v", report)
	}
	r.idle = []byte(strings.Replace(string(r.idle), string(promotion.Same), string(promotion.Refused), 1))
	report := r.run()
	if !slices.ContainsFunc(report.Errors, func(e repo.PartialError) bool {
		return e.What == engine.IncrementalPart && strings.Contains(e.Err.Error(), "refused")
	}) {
		t.Errorf("errors: %v", report.Errors)
	}
}

// Who reads the files for something else than a reconciliation gets them.
func TestIdleRun_endsNothingButReconciliations(t *testing.T) {
	t.Parallel()
	r := newRuns(t, twoApplications)
	r.ended(r.run(), true)
	reconciler := r.Reconciler()
	reconciler.IdleRuns = r
	report, err := reconciler.Observe(t.Context())
	if err != nil || report.Idle || len(report.Decisions) != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	target := promotion.Target{Environment: "dev", Application: "shop"}
	if _, err := previousSnapshot(t, reconciler, target); err != nil && strings.Contains(err.Error(), "has no files") {
		t.Error(err)
	}
}
