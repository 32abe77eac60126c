package reconcile_test

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// edit changes the config file on the default branch.
func (w *world) edit(from, to string) {
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Edit the config", func(all map[string]string) {
		all[repo.ConfigFile] = strings.Replace(all[repo.ConfigFile], from, to, 1)
	})
}

// A broken config is a failed status on the head of the default branch, with file and
// line, set once for each head and message. The first valid one after it passes; others
// get no status, and cost no request.
func TestReconcile_statusOfABrokenConfig(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, threeEnvironments), &memory{}
	reconcile := func(wantChecks, wantSet int) {
		t.Helper()
		clear(w.Forge.Calls)
		w.remembering(m)
		if checks, set := w.Forge.Calls["checks"], w.Forge.Calls["status"]; checks != wantChecks || set != wantSet {
			t.Errorf("checks were read %d times, and %d statuses set; want %d and %d", checks, set, wantChecks, wantSet)
		}
	}
	reconcile(0, 0)
	w.edit("land: push", "lnd: push")
	reconcile(1, 1)
	broken := w.Git.Branch("main")
	if got := w.statusOf(broken); !strings.HasPrefix(got, "failed the config cannot be used: .promoter.yaml:6:") {
		t.Errorf("the status is %q", got)
	}
	reconcile(1, 0)
	w.edit("lnd: push", "lund: push")
	reconcile(1, 1)
	w.edit("lund: push", "land: push")
	reconcile(1, 1)
	if got := w.statusOf(w.Git.Branch("main")); got != "passed the config is valid" {
		t.Errorf("the status is %q", got)
	}
	if got := w.statusOf(broken); !strings.HasPrefix(got, "failed ") {
		t.Errorf("the status of the broken commit is %q", got)
	}
	reconcile(0, 0)
	w.edit("version: 1", "version: 1 # one")
	reconcile(0, 0)
}

// A repository without a config file is not broken.
func TestReconcile_noStatusWithoutConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Remove it", func(all map[string]string) { delete(all, repo.ConfigFile) })
	w.remembering(&memory{})
	if w.Forge.Calls["checks"]+w.Forge.Calls["status"] != 0 {
		t.Errorf("requests: %v", w.Forge.Calls)
	}
}

// The report names a status that the forge does not permit, except on a protected branch
// of GitLab.
func TestReconcile_statusOfABrokenConfigIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"no right":         {fault.New(fault.Unauthorized, "403"), 1},
		"protected branch": {fault.New(fault.Unauthorized, "403: %w", scm.ErrProtectedHead), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments)
			w.edit("land: push", "lnd: push")
			w.failing("status", test.err)
			report := w.remembering(&memory{})
			if !strings.HasPrefix(report.Unusable, "the config cannot be used: ") || len(report.Errors) != test.want {
				t.Errorf("%q, errors %+v", report.Unusable, report.Errors)
			}
		})
	}
}
