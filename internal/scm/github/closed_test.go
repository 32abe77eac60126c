package github

import (
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// TestClosed_whoClosedMayBeHidden lists a pull request whose issue and events cannot be
// read: only its closer is missing.
func TestClosed_whoClosedMayBeHidden(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fault.Kind{403: "", 404: "", 410: "", 429: fault.RateLimited, 502: fault.Temporary} {
		w := newWire(t)
		pulls := w.open().PullRequests()
		closed := strings.Replace(pullJSON(9, `,"closed_at":"2026-06-01T11:00:00Z"`), `"state":"open"`, `"state":"closed"`, 1)
		w.on("GET "+pullsPath, says(200, "["+closed+"]"))
		w.on("GET "+repoPath+"/git/commits/"+head, says(200, `{"message":"Promote"}`))
		w.on("GET "+repoPath+"/issues/9", says(status, `{"message":"no"}`))
		w.on("GET "+repoPath+"/issues/9/events", says(status, `{"message":"no"}`))
		got, err := pulls.Closed(t.Context(), branchName, 2)
		if want != "" {
			checkFault(t, err, want, "closed pull requests from promoter/prod/web of acme/deploy")
			continue
		}
		if err != nil || len(got) != 1 || got[0].State != scm.StateClosed || got[0].Closer.Login != "" {
			t.Errorf("%d: got %+v, %v", status, got, err)
		}
		_, err = pulls.Closed(t.Context(), branchName, 0)
		checkFault(t, err, fault.Internal, "limit")
	}
}
