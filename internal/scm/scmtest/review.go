package scmtest

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/identity"
	"promoter/internal/scm"
)

// reviewing tests reviews, teams and permissions.
func reviewing() []condition {
	return []condition{
		{
			name: "Reviews returns the reviewer, the state, and the commit", feature: approvals,
			hooks:   func(b Bench) []any { return []any{b.People.Review} },
			run:     reviews,
			without: noReviews,
		},
		{
			name: "Reviews tells dismissed ones as such", feature: approvals,
			hooks: func(b Bench) []any { return []any{b.People.Review, b.People.Dismiss} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.People.Review(t, Ann, made.Number, scm.Approved)
				x.People.Dismiss(t, Ann, made.Number)
				if all := x.reviews(t, made.Number); len(all) != 1 || all[0].State != scm.Dismissed {
					t.Errorf("reviews: %+v", all)
				}
			},
		},
		{
			name: "Reviews reads all pages", feature: approvals,
			hooks: func(b Bench) []any { return []any{b.People.Review} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				for range 104 {
					x.People.Review(t, Bob, made.Number, scm.Commented)
				}
				x.People.Review(t, Ann, made.Number, scm.Approved)
				if all := x.reviews(t, made.Number); len(all) != 105 || all[104].State != scm.Approved {
					t.Errorf("%d reviews", len(all))
				}
			},
		},
		{
			name: "Member knows who is in a team", feature: teams,
			run: func(t *testing.T, x *fixture) {
				x.wantMember(t, Team, Ann, true)
				x.wantMember(t, strings.ToUpper(Team), strings.ToUpper(Ann), true)
				x.wantMember(t, Team, Bob, false)
				x.wantMember(t, Team, "nobody-there", false)
				x.wantMember(t, "acme/none", Ann, false)
			},
			without: func(t *testing.T, x *fixture) { x.wantMember(t, Team, Ann, false) },
		},
		{
			name: "MayWrite is asked live", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Permit} },
			run: func(t *testing.T, x *fixture) {
				x.wantWriter(t, Ann, true)
				x.wantWriter(t, Eve, false)
				x.wantWriter(t, "nobody-there", false)
				x.World.Permit(t, Ann, "read")
				x.wantWriter(t, Ann, false)
				x.World.Permit(t, Eve, "write")
				x.wantWriter(t, Eve, true)
			},
			without: func(t *testing.T, x *fixture) { x.wantWriter(t, Ann, false) },
		},
		{
			name: "an account whose login another has now may nothing", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				before := x.person(Ann)
				before.ID = "987654321"
				may, err := x.repo.Signals().MayWrite(t.Context(), before)
				member, err2 := x.repo.Signals().Member(t.Context(), Team, before)
				if may || member || err != nil || err2 != nil {
					t.Errorf("may write %t, %v; member %t, %v", may, err, member, err2)
				}
			},
		},
		{
			name: "a login is that of an account with an ID", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				accounts := x.repo.(scm.Accounts) //nolint:forcetypeassert // the test of it
				ann, err := accounts.Account(t.Context(), Ann)
				none, err2 := accounts.Account(t.Context(), "nobody-there")
				if ann.ID == "" || !ann.Same(x.person(Ann)) || err != nil || none != (identity.User{}) || err2 != nil {
					t.Errorf("ann %+v, %v; none %+v, %v", ann, err, none, err2)
				}
			},
			without: func(t *testing.T, x *fixture) {
				if _, shows := x.repo.(scm.Accounts); shows {
					t.Error("it shows accounts")
				}
			},
		},
		{
			name: "a person of another host may nothing", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				stranger := identity.User{Host: "elsewhere.example.com", Login: Ann}
				may, err := x.repo.Signals().MayWrite(t.Context(), stranger)
				member, err2 := x.repo.Signals().Member(t.Context(), Team, stranger)
				if may || member || err != nil || err2 != nil {
					t.Errorf("may write %t, %v; member %t, %v", may, err, member, err2)
				}
			},
		},
	}
}

func reviews(t *testing.T, x *fixture) {
	made := x.propose(t)
	for _, one := range []struct {
		who   string
		state scm.ReviewState
	}{{Ann, scm.ChangesRequested}, {Eve, scm.Approved}, {Robot, scm.Approved}, {Bob, scm.Commented}} {
		x.People.Review(t, one.who, made.Number, one.state)
	}
	moved := x.push(t, "image: web:3\n")
	x.People.Review(t, Ann, made.Number, scm.Approved)
	var told []string
	for _, r := range x.reviews(t, made.Number) {
		commit := "old"
		if r.Commit == moved {
			commit = "new"
		}
		told = append(told, fmt.Sprintf("%s %s %s", r.Author.Login, r.State, commit))
		counts := r.State == scm.Approved || r.State == scm.ChangesRequested
		if counts && !r.Author.Bot && r.MayWrite != (r.Author.Login == Ann) || r.At.IsZero() {
			t.Errorf("review %+v", r)
		}
		if strings.HasPrefix(r.Author.Login, Robot) != r.Author.Bot {
			t.Errorf("a bot: %+v", r)
		}
	}
	want := "ann changes requested old, eve approved old, robot-ci[bot] approved old, bob commented old, ann approved new"
	if got := strings.ReplaceAll(strings.Join(told, ", "), "robot-ci approved", "robot-ci[bot] approved"); got != want {
		t.Errorf("reviews:\n%s, want\n%s", got, want)
	}
}

func noReviews(t *testing.T, x *fixture) {
	if all := x.reviews(t, 1); len(all) != 0 {
		t.Errorf("reviews: %+v", all)
	}
}

func (x *fixture) reviews(t *testing.T, number int) []scm.Review {
	t.Helper()
	all, err := x.repo.Signals().Reviews(t.Context(), number)
	fatal(t, "reviews", err)
	return all
}

func (x *fixture) wantMember(t *testing.T, team, login string, want bool) {
	t.Helper()
	if got, err := x.repo.Signals().Member(t.Context(), team, x.person(login)); err != nil || got != want {
		t.Errorf("%s is in %s: %t, %v, want %t", login, team, got, err, want)
	}
}

func (x *fixture) wantWriter(t *testing.T, login string, want bool) {
	t.Helper()
	if got, err := x.repo.Signals().MayWrite(t.Context(), x.person(login)); err != nil || got != want {
		t.Errorf("%s may write: %t, %v, want %t", login, got, err, want)
	}
}
