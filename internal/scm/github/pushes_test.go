package github

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// The activity of a branch is read in pages with cursors, back to a move before the time that matters.
func TestPushed_readsPages(t *testing.T) {
	t.Parallel()
	none, first, second := strings.Repeat("0", 40), strings.Repeat("a", 40), strings.Repeat("b", 40)
	entry := func(hour int, before, after, kind string) string {
		const text = `{"id":%d,"before":%q,"after":%q,"ref":"refs/heads/env/prod","timestamp":"2026-06-01T%02d:00:00Z","activity_type":%q,"actor":null}`
		return fmt.Sprintf(text, hour, before, after, hour, kind)
	}
	at := func(hour int) time.Time { return time.Date(2026, 6, 1, hour, 0, 0, 0, time.UTC) }
	w := newWire(t)
	w.on("GET "+repoPath+"/activity", func(out http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Get("ref") != "refs/heads/env/prod" || query.Get("per_page") != "100" {
			t.Errorf("asked %s", r.URL.RawQuery)
		}
		page := map[string]string{
			"":   entry(11, first, second, "force_push") + "," + entry(10, none, first, "branch_creation"),
			"c1": entry(9, second, none, "branch_deletion") + "," + entry(8, first, second, "pr_merge"),
			"c2": entry(7, none, first, "push"),
		}[query.Get("after")]
		if next := map[string]string{"": "c1", "c1": "c2"}[query.Get("after")]; next != "" {
			out.Header().Set("Link", fmt.Sprintf(`<%s?after=%s&per_page=100>; rel="next"`, r.URL.Path, next))
		}
		_, _ = io.WriteString(out, "["+page+"]")
	})
	pushes, err := w.open().(scm.Pushes).Pushed(t.Context(), "env/prod", at(9))
	want := []scm.Push{
		{Before: first, After: second, At: at(11)}, {After: first, At: at(10)}, {Before: second, At: at(9)}, {Before: first, After: second, At: at(8)},
	}
	if diff := cmp.Diff(want, pushes); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	w.expect("GET "+repoPath+"/activity", "GET "+repoPath+"/activity")
}

func TestPushed_errors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fault.Kind{403: fault.Unauthorized, 404: fault.NotFound, 422: fault.Invalid, 429: fault.RateLimited, 502: fault.Temporary} {
		w := newWire(t)
		repository := w.open()
		w.on("GET "+repoPath+"/activity", says(status, `{"message":"no"}`))
		_, err := repository.(scm.Pushes).Pushed(t.Context(), "main", time.Time{})
		checkFault(t, err, want, "activity of branch main of acme/deploy")
	}
}
