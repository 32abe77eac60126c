package scmtest

import (
	"errors"
	"slices"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

func rules(f scm.Features) bool { return f.Rules }

// ruling tests the requirements of a branch.
func ruling() []condition {
	return []condition{
		{
			name: "Rules of a branch that asks nothing are none", feature: rules,
			run: func(t *testing.T, x *fixture) {
				got := x.rules(t)
				if len(got.Checks) > 0 || got.Approvals > 0 || got.Owners || got.Queue || got.Signed || got.Stuck != "" {
					t.Errorf("rules: %+v", got)
				}
				x.land(t, x.propose(t))
			},
			without: func(t *testing.T, x *fixture) {
				if _, can := x.repo.(scm.Ruled); can {
					t.Error("rules can be read, and the features do not include them")
				}
			},
		},
		{
			name: "Rules names the checks that a branch requires, where the forge names any", feature: rules,
			hooks: func(b Bench) []any { return []any{b.World.Protect} },
			run: func(t *testing.T, x *fixture) {
				x.World.Protect(t, "ci/required")
				if got := x.rules(t).Checks; len(got) > 0 && !slices.Equal(got, []string{"ci/required"}) {
					t.Errorf("checks: %v", got)
				}
				x.refused(t, x.propose(t), "", fault.Unauthorized)
			},
		},
		{
			name: "a merge queue is reported by Rules, and by the refusal of a merge", feature: rules,
			hooks: func(b Bench) []any { return []any{b.World.Queue} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.Queue(t)
				x.repo = open(t, x.Bench)
				if got := x.rules(t); !got.Queue {
					t.Errorf("rules: %+v", got)
				}
				_, err := x.repo.PullRequests().Merge(t.Context(), made.Number, landing(made.Head.Commit))
				wantKind(t, "merge", err, fault.Unauthorized)
				if told, ok := errors.AsType[*scm.RefusedError](err); ok && told.Rule != scm.RuleQueue {
					t.Errorf("refused by %q: %v", told.Rule, err)
				}
			},
		},
	}
}

// rules reads the rules of main.
func (x *fixture) rules(t *testing.T) scm.Rules {
	t.Helper()
	ruled, can := x.repo.(scm.Ruled)
	if !can {
		t.Fatal("the features include rules, and they cannot be read")
	}
	read, err := ruled.Rules(t.Context(), Main)
	fatal(t, "rules", err)
	return read
}
