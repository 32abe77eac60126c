package scmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"promoter/internal/scm"
)

// signaling tests checks and statuses.
func signaling() []condition {
	return []condition{
		{
			name: "Checks translates every result", feature: statuses,
			hooks: func(b Bench) []any { return []any{b.People.Status, b.People.Check} },
			run: func(t *testing.T, x *fixture) {
				commit := x.push(t, "image: web:2\n")
				want := map[string]scm.CheckState{}
				for _, state := range []scm.CheckState{scm.CheckPassed, scm.CheckPending, scm.CheckFailed} {
					x.People.Status(t, Robot, commit, "status/"+string(state), state)
					want["status/"+string(state)] = state
				}
				for conclusion, state := range map[string]scm.CheckState{
					"success": scm.CheckPassed, "neutral": scm.CheckPassed, "skipped": scm.CheckPassed, "in_progress": scm.CheckPending,
					"failure": scm.CheckFailed, "cancelled": scm.CheckFailed, "timed_out": scm.CheckFailed, "action_required": scm.CheckFailed,
				} {
					x.People.Check(t, Robot, commit, "check "+conclusion, conclusion)
					want["check "+conclusion] = state
				}
				x.wantChecks(t, commit, want)
				without := map[string]bool{"check cancelled": true, "check skipped": true}
				found, err := x.repo.Signals().Checks(t.Context(), commit)
				fatal(t, "checks", err)
				for _, check := range found {
					if check.NoResult != without[check.Name] && check.Name != x.Job && check.Name != "check neutral" {
						t.Errorf("%s has no result: %t", check.Name, check.NoResult)
					}
				}
			},
			without: func(t *testing.T, x *fixture) {
				commit := strings.Repeat("a", 40)
				fatal(t, "set", x.repo.Signals().SetStatus(t.Context(), commit, scm.Status{Context: "promoter", State: scm.CheckPassed}))
				x.wantChecks(t, commit, nil)
			},
		},
		{
			name: "Checks has the latest result of each name", feature: statuses,
			hooks: func(b Bench) []any { return []any{b.People.Status, b.People.Check} },
			run: func(t *testing.T, x *fixture) {
				commit := x.push(t, "image: web:2\n")
				for _, state := range []scm.CheckState{scm.CheckPending, scm.CheckFailed, scm.CheckPassed} {
					x.People.Status(t, Robot, commit, "ci", state)
				}
				for _, conclusion := range []string{"success", "failure"} {
					x.People.Check(t, Robot, commit, "e2e", conclusion)
				}
				x.wantChecks(t, commit, map[string]scm.CheckState{"ci": scm.CheckPassed, "e2e": scm.CheckFailed})
			},
		},
		{
			name: "Checks reads more than 100 statuses and 100 check runs", feature: statuses,
			hooks: func(b Bench) []any { return []any{b.People.Status, b.People.Check} },
			run: func(t *testing.T, x *fixture) {
				commit, want := x.push(t, "image: web:2\n"), map[string]scm.CheckState{}
				for i := range 130 {
					status, check := fmt.Sprintf("status %d", i), fmt.Sprintf("check %d", i)
					x.People.Status(t, Robot, commit, status, scm.CheckPassed)
					x.People.Check(t, Robot, commit, check, "success")
					want[status], want[check] = scm.CheckPassed, scm.CheckPassed
				}
				x.wantChecks(t, commit, want)
			},
		},
		{name: "SetStatus sets the one status of its context", feature: statuses, run: setStatus},
		{
			name: "SetStatus with the current status writes nothing", feature: statuses,
			hooks: func(b Bench) []any { return []any{b.World.Requests} },
			run: func(t *testing.T, x *fixture) {
				commit := x.push(t, "image: web:2\n")
				status := scm.Status{Context: "promoter", State: scm.CheckPending, Description: "waiting", URL: "https://promoter.example.com/x"}
				fatal(t, "set", x.repo.Signals().SetStatus(t.Context(), commit, status))
				_, before := x.World.Requests()
				fatal(t, "set again", open(t, x.Bench).Signals().SetStatus(t.Context(), commit, status))
				if _, after := x.World.Requests(); after != before {
					t.Errorf("%d writes", after-before)
				}
			},
		},
		{
			name: "a description that is too long is cut", feature: statuses,
			run: func(t *testing.T, x *fixture) {
				commit := x.push(t, "image: web:2\n")
				status := scm.Status{Context: "promoter", State: scm.CheckPending, Description: strings.Repeat("wäiting 🙂 ", 40)}
				fatal(t, "set", x.repo.Signals().SetStatus(t.Context(), commit, status))
				x.wantChecks(t, commit, map[string]scm.CheckState{"promoter": scm.CheckPending})
			},
		},
	}
}

func setStatus(t *testing.T, x *fixture) {
	commit := x.push(t, "image: web:2\n")
	signals := x.repo.Signals()
	for _, state := range []scm.CheckState{scm.CheckPending, scm.CheckFailed, scm.CheckPassed} {
		fatal(t, "set", signals.SetStatus(t.Context(), commit, scm.Status{Context: "promoter", State: state, Description: string(state)}))
		x.wantChecks(t, commit, map[string]scm.CheckState{"promoter": state})
	}
	found, err := signals.Checks(t.Context(), commit)
	fatal(t, "checks", err)
	found = slices.DeleteFunc(found, func(one scm.Check) bool { return one.Name == x.Job })
	if len(found) != 1 || !found[0].Own || found[0].At.IsZero() {
		t.Errorf("our own is %+v", found)
	}
	if x.People.Status == nil {
		return
	}
	x.People.Status(t, Robot, commit, "other", scm.CheckPassed)
	found, err = signals.Checks(t.Context(), commit)
	fatal(t, "checks", err)
	for _, check := range found {
		if check.Own != (check.Name == "promoter") {
			t.Errorf("%s is our own: %t", check.Name, check.Own)
		}
	}
}

func (x *fixture) wantChecks(t *testing.T, commit string, want map[string]scm.CheckState) {
	t.Helper()
	found, err := x.repo.Signals().Checks(t.Context(), commit)
	fatal(t, "checks", err)
	found = slices.DeleteFunc(found, func(one scm.Check) bool { return one.Name == x.Job })
	if len(found) != len(want) {
		t.Errorf("%d checks, want %d", len(found), len(want))
	}
	for _, check := range found {
		if want[check.Name] != check.State {
			t.Errorf("%s is %s, want %s", check.Name, check.State, want[check.Name])
		}
	}
}
