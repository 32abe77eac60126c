package scmtest

import (
	"net/http"
	"testing"
	"time"

	"promoter/internal/fault"
)

// troubled tests servers that fail.
func troubled() []condition {
	limited := func(secondary bool) func(t *testing.T, x *fixture) {
		return func(t *testing.T, x *fixture) {
			until := time.Now().Add(20 * time.Minute).Truncate(time.Second) //nolint:forbidigo // of the server's clock, which is the machine's
			x.World.Limit(t, secondary, until)
			_, err := x.repo.PullRequests().Open(t.Context())
			wantKind(t, "list", err, fault.RateLimited)
			if at, ok := fault.RetryAt(err); !ok || at.Before(until.Add(-time.Minute)) || at.After(until.Add(5*time.Minute)) {
				t.Errorf("try again at %v, want about %v", at, until)
			}
			before, _ := x.World.Requests()
			err = x.repo.PullRequests().Edit(t.Context(), 1, dashTitle())
			wantKind(t, "edit in the pause", err, fault.RateLimited)
			if after, _ := x.World.Requests(); after != before {
				t.Errorf("%d requests in the pause", after-before)
			}
		}
	}
	hooks := func(b Bench) []any { return []any{b.World.Limit, b.World.Requests} }
	return []condition{
		{name: "a rate limit returns when to try again", feature: pullRequests, hooks: hooks, run: limited(false)},
		{name: "a secondary rate limit returns when to try again", feature: pullRequests, hooks: hooks, run: limited(true)},
		{
			name: "an accident of the server is temporary", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Fail} },
			run: func(t *testing.T, x *fixture) {
				for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable} {
					x.World.Fail(t, status)
					_, err := x.repo.PullRequests().Open(t.Context())
					wantKind(t, "list", err, fault.Temporary)
					x.none(t)
					commit := x.main(t)
					x.World.Fail(t, status)
					_, err = x.repo.Signals().Checks(t.Context(), commit)
					wantKind(t, "checks", err, fault.Temporary)
				}
			},
		},
		{
			name: "Edit whose answer is lost is temporary, and its effect stands", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Lose} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.World.Lose(t)
				edit := dashTitle()
				wantKind(t, "edit", x.repo.PullRequests().Edit(t.Context(), made.Number, edit), "", fault.Temporary)
				if pull := x.one(t); pull.Title != *edit.Title {
					t.Errorf("the title is %q", pull.Title)
				}
			},
		},
	}
}
