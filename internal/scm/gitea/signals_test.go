package gitea_test

import (
	"slices"
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

// A canceled job of Actions has the state of a failed one.
func TestChecks_canceledJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	commit := w.repo.Git.Head("main")
	for _, conclusion := range []string{"cancelled", "failure", "skipped", "success"} {
		w.repo.SetJob("ci", commit, conclusion, conclusion)
	}
	checks, err := w.open(t).Signals().Checks(t.Context(), commit)
	must(t, "checks", err)
	for _, check := range checks {
		if without := check.Name == "cancelled" || check.Name == "skipped"; check.NoResult != without {
			t.Errorf("%+v", check)
		}
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

// wantWriters checks which users may push. Those for whom it is hidden are named with a
// question mark.
func (w *world) wantWriters(t *testing.T, want ...string) {
	t.Helper()
	signals := w.open(t).Signals()
	var got []string
	for _, who := range []string{"ann", "bob", "eve", "rea", "nobody"} {
		switch may, err := signals.MayWrite(t.Context(), w.person(who)); {
		case fault.KindOf(err) == fault.Unauthorized:
			got = append(got, who+"?")
		case err != nil:
			t.Fatal(err)
		case may:
			got = append(got, who)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("may write: %q, want %q", got, want)
	}
}

func (w *world) wantLimit(t *testing.T, all bool, fix string) {
	t.Helper()
	limit, err := w.ask(t).Open(t.Context(), "acme/deploy")
	must(t, "open", err)
	got, err := limit.(scm.LimitsPermissions).PermissionLimit(t.Context())
	if err != nil || got.All != all || got.Fix != fix || (got.Reason == "") != (fix == "") {
		t.Errorf("limit: %+v, %v, want %q", got, err, fix)
	}
}

// Gitea shows to everyone which users may be assigned: those with write access, and
// those who read pull requests through a team.
func TestMayWrite_withoutAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit("ann", "write")
	w.repo.Settings.Permit("eve", "read")
	w.wantWriters(t, "ann")
	w.wantLimit(t, false, "")
	w.SetTeam("acme/devs", "bob")
	w.repo.PermitTeam("acme/devs", "write")
	w.wantWriters(t, "ann", "bob")
	w.wantLimit(t, false, "")
	w.SetTeam("acme/readers", "rea")
	w.repo.PermitTeam("acme/readers", "read")
	w.wantWriters(t, "ann?", "bob?", "rea?")
	w.wantLimit(t, true, "make promoter-bot an administrator of the repository, and a member of acme/devs")
	_, err := w.open(t).Signals().MayWrite(t.Context(), w.person("ann"))
	want(t, "ann", err, fault.Unauthorized, "only to administrators", "make promoter-bot an administrator of the repository")
	w.JoinTeam("acme/devs", self)
	w.wantWriters(t, "ann?", "bob", "rea?")
	w.wantLimit(t, false, "make promoter-bot an administrator of the repository")
}

// To administrators, Gitea shows the permissions of users, except for those that they
// have through a team.
func TestMayWrite_administrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit(self, "admin")
	w.repo.Settings.Permit("ann", "write")
	w.repo.Settings.Permit("eve", "read")
	w.wantWriters(t, "ann")
	w.SetTeam("acme/readers", "rea")
	w.repo.PermitTeam("acme/readers", "read")
	w.wantWriters(t, "ann")
	w.wantLimit(t, false, "")
	w.SetTeam("acme/devs", "bob")
	w.repo.PermitTeam("acme/devs", "write")
	w.wantWriters(t, "ann", "bob?", "rea?")
	w.wantLimit(t, false, "make promoter-bot a member of acme/devs")
	w.JoinTeam("acme/devs", self)
	w.wantWriters(t, "ann", "bob")
	w.wantLimit(t, false, "")
}

// An approval of a user who writes through a team counts as Gitea counts it, where
// Gitea does not show the team. One of a user without access does not count.
func TestReviews_throughATeam(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit(self, "admin")
	w.SetTeam("acme/devs", "bob")
	w.repo.PermitTeam("acme/devs", "write")
	w.SetTeam("acme/readers", "rea")
	w.repo.PermitTeam("acme/readers", "read")
	w.repo.Settings.Permit("ann", "write")
	pull := w.propose(t, w.open(t))
	for _, who := range []string{"bob", "rea", "ann"} {
		w.repo.Pulls.Approve(who, pull.Number)
	}
	w.repo.Settings.Permit("ann", "none")
	w.repo.Pulls.Review("bob", pull.Number, "PENDING")
	w.Traffic.ResetRequests()
	reviews, err := w.open(t).Signals().Reviews(t.Context(), pull.Number)
	if n := w.Traffic.Requests()["GET /repos/{owner}/{repo}/teams"]; n != 1 {
		t.Errorf("the teams were listed %d times", n)
	}
	if err != nil || len(reviews) != 3 || !reviews[0].MayWrite || reviews[1].MayWrite || reviews[2].MayWrite {
		t.Errorf("reviews: %+v, %v", reviews, err)
	}
}

// A push dismisses an approval, which is then not official either.
func TestReviews_dismissedByAPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit("ann", "write")
	w.repo.Protect("main", giteatest.Protection{Approvals: 1, DismissStale: true})
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Pulls.Approve("ann", pull.Number)
	w.push(t, "image: web:3\n")
	w.repo.Pulls.Approve("ann", pull.Number)
	reviews, err := repo.Signals().Reviews(t.Context(), pull.Number)
	if err != nil || len(reviews) != 2 || reviews[0].State != scm.Dismissed || reviews[1].State != scm.Approved || !reviews[1].MayWrite {
		t.Errorf("reviews: %+v, %v", reviews, err)
	}
}

// A whitelist of the branch may leave out a user who may push.
func TestReviews_thatGiteaDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, who := range []string{"ann", "bob"} {
		w.repo.Settings.Permit(who, "write")
	}
	w.repo.Protect("main", giteatest.Protection{Approvals: 1})
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Pulls.Approve("ann", pull.Number)
	w.repo.Unofficial("ann", pull.Number)
	w.repo.Pulls.Approve("bob", pull.Number)
	reviews, err := repo.Signals().Reviews(t.Context(), pull.Number)
	if err != nil || len(reviews) != 2 || !reviews[0].Unofficial || reviews[1].Unofficial {
		t.Errorf("reviews: %+v, %v", reviews, err)
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
