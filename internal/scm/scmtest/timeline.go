package scmtest

import (
	"testing"
	"time"

	"promoter/internal/identity"
	"promoter/internal/scm"
)

// deletionTime is how much later than the close that follows from it a forge may date a deletion, in whole seconds.
const deletionTime = time.Second

// turning tests Timelines, and the deletion of branches.
func turning() []condition {
	return []condition{
		{
			name: "the timeline has each close and reopening with its user", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Close, b.People.Reopen} },
			run: func(t *testing.T, x *fixture) {
				number := x.propose(t).Number
				x.wantTimeline(t, number)
				x.People.Close(t, Ann, number)
				x.People.Reopen(t, Bob, number)
				yes := true
				fatal(t, "close", x.repo.PullRequests().Edit(t.Context(), number, scm.Edit{Closed: &yes}))
				x.People.Reopen(t, Ann, number)
				x.wantTimeline(t, number, scm.StateClosed, x.person(Ann), scm.StateOpen, x.person(Bob),
					scm.StateClosed, x.repo.Info().Self, scm.StateOpen, x.person(Ann))
			},
		},
		{
			name: "the timeline ends before a merge", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Close, b.People.Reopen, b.People.Merge} },
			run: func(t *testing.T, x *fixture) {
				number := x.propose(t).Number
				x.People.Close(t, Ann, number)
				x.People.Reopen(t, Bob, number)
				x.People.Merge(t, Ann, number, "merge")
				x.wantTimeline(t, number, scm.StateClosed, x.person(Ann), scm.StateOpen, x.person(Bob))
			},
		},
		{
			name: "a close before the deletion of the branch is distinguished from one by it", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Close, b.Git.Delete} },
			run: func(t *testing.T, x *fixture) {
				deletions, can := x.repo.(scm.Deletions)
				if !can {
					t.Fatal("the forge does not report deletions")
				}
				first := x.propose(t)
				x.People.Close(t, Ann, first.Number)
				pushed, err := deletions.HeadDeleted(t.Context(), first.Number)
				if err != nil || !pushed.IsZero() {
					t.Errorf("deleted at %v, %v, before it was", pushed, err)
				}
				for range 3 { // the times of forges are in whole seconds
					x.none(t)
				}
				x.Git.Delete(t, Bob, branch)
				after, err := deletions.HeadDeleted(t.Context(), first.Number)
				if closed := x.ended(t, 1)[0].ClosedAt; err != nil || !after.IsZero() && !after.After(closed) {
					t.Errorf("deleted at %v, %v, closed at %v before", after, err, closed)
				}
				second := x.propose(t)
				x.Git.Delete(t, Ann, branch)
				by, err := deletions.HeadDeleted(t.Context(), second.Number)
				if closed := x.ended(t, 1)[0].ClosedAt; err != nil || by.IsZero() || by.After(closed.Add(deletionTime)) {
					t.Errorf("deleted at %v, %v, which closed it at %v", by, err, closed)
				}
			},
		},
	}
}

// wantTimeline checks the timeline: a state and a user for each event.
func (x *fixture) wantTimeline(t *testing.T, number int, want ...any) {
	t.Helper()
	timelines, can := x.repo.(scm.Timelines)
	if !can {
		t.Fatal("the forge has no timelines")
	}
	timeline, err := timelines.Timeline(t.Context(), number)
	if err != nil || len(timeline) != len(want)/2 {
		t.Fatalf("timeline %+v, %v, want %v", timeline, err, want)
	}
	for i, event := range timeline {
		by, _ := want[2*i+1].(identity.User)
		if event.State != want[2*i] || !event.By.Same(by) || event.At.IsZero() || i > 0 && event.At.Before(timeline[i-1].At) {
			t.Errorf("event %d is %+v, want %v by %s", i, event, want[2*i], by.Login)
		}
	}
}
