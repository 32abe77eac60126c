package scmtest

import (
	"testing"
	"time"

	"promoter/internal/scm"
)

// pushing tests Pushes.
func pushing() []condition {
	return []condition{
		{
			name: "Pushed lists how a branch moved, newest first", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Merge} },
			run: func(t *testing.T, x *fixture) {
				first := x.Git.Commit(t, Commit{By: Bob, Branch: Main, Path: "a.yaml", Content: "a: 1\n", Message: "First"})
				x.propose(t) // of another branch
				second := x.Git.Commit(t, Commit{By: Ann, Branch: Main, Path: "a.yaml", Content: "a: 2\n", Message: "Second"})
				pushes := x.pushed(t, Main, 2)
				if pushes[0].Before != first || pushes[0].After != second || pushes[1].After != first {
					t.Errorf("pushes: %+v, want %s and %s before it", pushes, second, first)
				}
			},
		},
		{
			name: "Pushed shows that a branch was deleted", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.Git.Delete} },
			run: func(t *testing.T, x *fixture) {
				commit := Commit{By: Bob, Branch: "env/prod", Path: "a.yaml", Content: "a: 1\n", Message: "First"}
				first := x.Git.Commit(t, commit)
				x.Git.Delete(t, Ann, commit.Branch)
				commit.Content = "a: 2\n"
				second := x.Git.Commit(t, commit)
				pushes := x.pushed(t, commit.Branch, 3)
				if pushes[0].Before != "" || pushes[0].After != second {
					t.Errorf("pushes: %+v, want the branch created at %s", pushes, second)
				}
				for _, push := range pushes[1:] {
					if push.After == "" && push.Before == "" || push.After == "" && push.Before == first {
						return
					}
				}
				t.Errorf("pushes: %+v, want a deletion", pushes)
			},
		},
		{
			name: "Pushed of a branch that never was is empty", feature: pullRequests,
			run: func(t *testing.T, x *fixture) { x.pushed(t, "never", 0) },
		},
	}
}

// pushed lists the moves of a branch, at least as many as given, in order.
func (x *fixture) pushed(t *testing.T, branch string, least int) []scm.Push {
	t.Helper()
	reporting, can := x.repo.(scm.Pushes)
	if !can {
		t.Fatal("the forge does not report pushes")
	}
	pushes, err := reporting.Pushed(t.Context(), branch, time.Time{})
	if err != nil || len(pushes) < least || least == 0 && len(pushes) > 0 {
		t.Fatalf("pushes: %+v, %v, want %d", pushes, err, least)
	}
	for i, push := range pushes {
		if push.At.IsZero() || i > 0 && push.At.After(pushes[i-1].At) {
			t.Errorf("push %d: %+v, want it before the one before", i, push)
		}
	}
	return pushes
}
