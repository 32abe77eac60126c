package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
)

// memory is an observe.BranchMemory.
type memory struct{ heads map[string]string }

func (m *memory) Last() map[string]string { return m.heads }

func (m *memory) Remember(heads map[string]string) error {
	m.heads = heads
	return nil
}

// remembering reconciles with a memory. Unlike run, it permits partial errors.
func (w *world) remembering(m *memory) outcome.Report {
	w.t.Helper()
	r := w.Reconciler()
	r.Clients.Branches = m
	report, err := r.Reconcile(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// A cleanup of old branches, or a push that moves the branch back, ends no hold, freeze,
// or rejection. What users undo with verbs stays undone.
func TestReconcile_restoresALostStateBranch(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(w *world, before string){
		"deleted":     func(w *world, _ string) { w.Git.Set(state.Branch, "") },
		"moved back":  func(w *world, before string) { w.Git.Set(state.Branch, before) },
		"another one": func(w *world, _ string) { w.Git.Set(state.Branch, w.Git.Branch("main")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, m := newWorld(t, threeEnvironments), &memory{}
			w.decide(state.Hold(in("staging"), w.act("before")))
			before := w.Git.Branch(state.Branch)
			until := w.Clock.Now().Add(time.Hour)
			w.decide(state.Hold(in("dev"), w.act("incident 42")), state.Freeze("prod", w.act("holiday"), &until))
			if report := w.remembering(m); report.Failed() {
				t.Fatalf("%+v", report.Errors)
			}
			lose(w, before)
			w.push(web, "1.1.0")
			report := w.remembering(m)
			wantReason(t, report, "dev", "incident 42")
			if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Err.Error(), "are restored: end them with 'promoter resume', 'promoter unreject', and") {
				t.Errorf("errors: %+v", report.Errors)
			}
			report = w.remembering(m)
			if report.Failed() {
				t.Errorf("the next run failed too: %+v", report.Errors)
			}
			wantReason(t, report, "dev", "incident 42")
			w.decide(state.Resume(in("dev"), w.act("over")))
			if report = w.remembering(m); report.Failed() || w.Git.FilesOf(w.Git.Branch("main"))["dev/shop.txt"] == files()["dev/shop.txt"] {
				t.Errorf("resumed: %s, %+v", reason(report, "dev"), report.Errors)
			}
		})
	}
}

// The cycle that follows a landing does not find the incident again, and it is reported all the same.
func TestReconcile_reportsIncidentsOfEveryCycle(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, threeEnvironments), &memory{}
	w.decide(state.Hold(in("prod"), w.act("incident 42")))
	w.remembering(m)
	w.Git.Set(state.Branch, "")
	w.push(web, "1.1.0")
	report := w.remembering(m)
	w.holds("dev", "1.1.0 1.0.0")
	if len(report.Errors) != 1 || !report.Errors[0].Incident || !strings.Contains(report.Errors[0].Err.Error(), "are restored") {
		t.Errorf("errors: %+v", report.Errors)
	}
	if report = w.remembering(m); report.Failed() {
		t.Errorf("it is reported again: %+v", report.Errors)
	}
}

// Without a memory, or when the mirror was recreated, nothing is known to be lost.
func TestReconcile_forgetsWithoutTheCommit(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, threeEnvironments), &memory{heads: map[string]string{state.Branch: strings.Repeat("1", 40), "main": strings.Repeat("2", 40)}}
	w.push(web, "1.1.0")
	if report := w.remembering(m); report.Failed() {
		t.Errorf("%+v", report.Errors)
	}
}

// A reset of main and a forced push undo promotions like git revert: what is gone is not
// proposed again until a user resumes the target or a newer version arrives.
func TestReconcile_branchMovedBackIsARevert(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, threeEnvironments), &memory{}
	w.remembering(m)
	before := w.Git.Branch("main")
	w.push(web, "1.1.0")
	w.remembering(m)
	w.push(web, "1.2.0")
	w.remembering(m)
	w.Git.Set("main", before)
	report := w.remembering(m)
	wantReason(t, report, "dev", "main was moved back from")
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Err.Error(), "what this removed is not proposed again") {
		t.Errorf("errors: %+v", report.Errors)
	}
	for range 2 {
		if report = w.remembering(m); report.Failed() || w.Git.Branch("main") != before {
			t.Fatalf("the next run: %+v, main moved: %t", report.Errors, w.Git.Branch("main") != before)
		}
	}
	w.push(web, "1.3.0")
	w.remembering(m)
	if text := w.Git.FilesOf(w.Git.Branch("main"))["dev/shop.txt"]; !strings.Contains(text, "1.3.0") {
		t.Errorf("a newer version does not land: %s", text)
	}
}

// Merges, and commits of users on top, are no loss.
func TestReconcile_branchThatMovedOnIsNoRevert(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, threeEnvironments), &memory{}
	w.push(web, "1.1.0")
	w.remembering(m)
	landed := w.Git.Branch("main")
	w.byHand("main", "prod", "worker:1.0.0", "worker:1.0.0")
	if report := w.remembering(m); report.Failed() {
		t.Errorf("a commit on top: %+v", report.Errors)
	}
	// A feature branch that merged main becomes main: its first parents are others.
	commit, err := w.Git.Objects().Commit(landed)
	if err != nil {
		t.Fatal(err)
	}
	w.Git.Set("feature", commit.Parents[0])
	w.byHand("feature", "prod", "worker:1.0.0", "worker:1.0.0")
	merged, err := w.Git.Merge("feature", w.Git.Branch("main"), "merge", "Merge main", w.Reconciler().Clients.By, w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.Git.Set("main", merged)
	if report := w.remembering(m); report.Failed() {
		t.Errorf("a merge in the other direction: %+v", report.Errors)
	}
}
