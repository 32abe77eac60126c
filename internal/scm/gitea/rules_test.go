package gitea_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

func rulesOf(t *testing.T, w *world) scm.Rules {
	t.Helper()
	rules, err := w.open(t).(scm.Ruled).Rules(t.Context(), "main")
	must(t, "rules", err)
	return rules
}

// protection is a rule with all settings.
var protection = giteatest.Protection{
	Checks: []string{"ci/test", "lint/*"}, Approvals: 2, Outdated: true, Requests: true, Signed: true, PushDenied: true,
}

func TestRules_administrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit(self, "admin")
	w.repo.Protect("main", protection)
	got := rulesOf(t, w)
	want := scm.Rules{
		Checks: []string{"ci/test"}, Approvals: 2, Owners: true, Current: true, Signed: true, PullRequests: true,
		Hidden: "which checks lint/* stands for",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A non-administrator gets a part of the rules, and the missing part is listed.
func TestRules_writer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Protect("main", protection)
	got := rulesOf(t, w)
	if got.Approvals != 2 || len(got.Checks) != 1 || !got.PullRequests || got.Signed || got.Current || !strings.Contains(got.Hidden, "administrators of the repository") {
		t.Errorf("rules: %+v", got)
	}
}

func TestRules_unprotected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if diff := cmp.Diff(scm.Rules{}, rulesOf(t, w)); diff != "" {
		t.Error(diff)
	}
	w.repo.AllowWays("squash", "rebase")
	if got := rulesOf(t, w); !got.Linear || got.Stuck != "" {
		t.Errorf("without merge commits: %+v", got)
	}
	w.repo.AllowWays()
	if got := rulesOf(t, w); !strings.Contains(got.Stuck, "allow one") {
		t.Errorf("without a way: %+v", got)
	}
	_, err := w.open(t).(scm.Ruled).Rules(t.Context(), "none")
	want(t, "no branch", err, fault.NotFound)
}
