package gitea_test

import (
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

// Statuses of the same second have no order: the last one counts nevertheless.
func TestChecks_statusesOfOneSecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, MaxItems: 2})
	commit := w.repo.Git.Head("main")
	for _, state := range []string{"pending", "failure", "error", "warning", "skipped", "success"} {
		w.repo.Settings.SetStatus("ci", commit, "e2e", state)
		w.repo.Settings.SetStatus("ci", commit, "last "+state, state)
	}
	checks, err := w.open(t).Signals().Checks(t.Context(), commit)
	must(t, "checks", err)
	want := map[string]scm.CheckState{
		"e2e": scm.CheckPassed, "last pending": scm.CheckPending, "last failure": scm.CheckFailed, "last error": scm.CheckFailed,
		"last warning": scm.CheckPassed, "last skipped": scm.CheckPassed, "last success": scm.CheckPassed,
	}
	for _, check := range checks {
		if want[check.Name] != check.State || check.Own {
			t.Errorf("%+v, want %s", check, want[check.Name])
		}
		delete(want, check.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func (w *world) person(login string) identity.User {
	return identity.User{Host: w.Host(), Login: login}
}

// A non-administrator cannot read the permissions of other users. Then the reviews
// count that Gitea itself counts.
func TestReviews_withoutAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit("ann", "write")
	w.repo.Settings.Permit("eve", "read")
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Pulls.Approve("ann", pull.Number)
	w.repo.Pulls.Approve("eve", pull.Number)
	w.repo.Pulls.Review("ann", pull.Number, "REQUEST_REVIEW")
	reviews, err := repo.Signals().Reviews(t.Context(), pull.Number)
	if err != nil || len(reviews) != 2 || !reviews[0].MayWrite || reviews[1].MayWrite {
		t.Errorf("reviews: %+v, %v", reviews, err)
	}
}

func TestMayWrite_withoutAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit("ann", "write")
	w.repo.Settings.Permit("eve", "read")
	signals := w.open(t).Signals()
	for _, who := range []string{"eve", "nobody"} {
		if may, err := signals.MayWrite(t.Context(), w.person(who)); may || err != nil {
			t.Errorf("%s may write: %t, %v", who, may, err)
		}
	}
	_, err := signals.MayWrite(t.Context(), w.person("ann"))
	want(t, "ann", err, fault.Unauthorized, "administrators", "make promoter-bot one")
	w.repo.Settings.Permit(self, "admin")
	if may, err := signals.MayWrite(t.Context(), w.person("ann")); !may || err != nil {
		t.Errorf("ann may write: %t, %v", may, err)
	}
}

// Gitea shows the members of a team only to the team.
func TestMember_whatMayNotBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetTeam("acme/sre", "ann")
	signals := w.open(t).Signals()
	_, err := signals.Member(t.Context(), "acme/sre", w.person("ann"))
	want(t, "outside the organization", err, fault.Unauthorized, "take promoter-bot into the team")
	w.SetTeam("acme/bots", self)
	_, err = signals.Member(t.Context(), "acme/sre", w.person("ann"))
	want(t, "outside the team", err, fault.Unauthorized, "Must be a team member", "take promoter-bot into the team")
	w.SetScopes(w.token, "read:user", "write:repository", "write:issue")
	_, err = signals.Member(t.Context(), "acme/sre", w.person("ann"))
	want(t, "without the scope", err, fault.Unauthorized, "read:organization")
}
