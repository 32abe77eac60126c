package gitlab

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

func pushJSON(second int, data string) string {
	return fmt.Sprintf(`{"id":%d,"action_name":"pushed to","created_at":"2026-06-01T12:00:%02d.000+02:00","push_data":{%s}}`, second, second, data)
}

// Pushes of other branches and of tags are left out. One of many branches may have moved any of them.
func TestPushed_readsEventsOfTheBranch(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("a", 40), strings.Repeat("b", 40)
	at := func(s int) time.Time { return time.Date(2026, 6, 1, 10, 0, s, 0, time.UTC) }
	pages := map[string]string{
		"action=pushed&per_page=100&sort=desc": strings.Join([]string{
			pushJSON(9, `"action":"pushed","ref_type":"branch","ref":"next","commit_from":"`+first+`","commit_to":"`+second+`"`),
			pushJSON(8, `"action":"pushed","ref_type":"branch","ref":"main","commit_from":"`+first+`","commit_to":"`+second+`","ref_count":null`),
			pushJSON(7, `"action":"pushed","ref_type":"branch","ref":null,"commit_from":null,"commit_to":null,"ref_count":4,"commit_count":0`),
			pushJSON(6, `"action":"created","ref_type":"tag","ref":null,"commit_from":null,"commit_to":null,"ref_count":5`),
		}, ","),
		"action=pushed&page=2&per_page=100&sort=desc": strings.Join([]string{
			pushJSON(5, `"action":"created","ref_type":"tag","ref":"main","commit_from":null,"commit_to":"`+first+`"`),
			pushJSON(4, `"action":"created","ref_type":"branch","ref":"main","commit_from":null,"commit_to":"`+first+`"`),
			pushJSON(3, `"action":"removed","ref_type":"branch","ref":"main","commit_from":"`+second+`","commit_to":null`),
		}, ","),
	}
	repo := opened(t, map[string]http.HandlerFunc{"GET /projects/42/events": func(w http.ResponseWriter, r *http.Request) {
		page, known := pages[r.URL.RawQuery]
		if !known {
			t.Errorf("asked %s", r.URL.RawQuery)
		}
		if !strings.Contains(r.URL.RawQuery, "page=2") {
			w.Header().Set("X-Next-Page", "2")
		}
		_, _ = io.WriteString(w, "["+page+"]")
	}})
	pushes, err := repo.(scm.Pushes).Pushed(t.Context(), "main", at(0))
	want := []scm.Push{
		{Before: first, After: second, At: at(8)}, {At: at(7)}, {After: first, At: at(4)}, {Before: second, At: at(3)},
	}
	if diff := cmp.Diff(want, pushes); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestPushed_withoutPermission(t *testing.T) {
	t.Parallel()
	repo := opened(t, map[string]http.HandlerFunc{"GET /projects/42/events": says(403, `{"message":"403 Forbidden"}`)})
	if _, err := repo.(scm.Pushes).Pushed(t.Context(), "main", time.Time{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("got %v", err)
	}
}
