package github

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

const recentPath = repoPath + "/issues/comments"

// saidJSON returns a comment in the list of the whole repository, on a pull request
// or on an issue.
func saidJSON(id, number int, page, updated, more string) string {
	return fmt.Sprintf(`{"id":%d,"user":{"login":"ann","type":"User"},"body":"word %d","created_at":"2026-06-01T10:00:00Z","updated_at":%q,
"issue_url":"https://api.github.com/repos/acme/deploy/issues/%d","html_url":"https://github.com/acme/deploy/%s/%d#issuecomment-%d"%s}`,
		id, id, updated, number, page, number, id, more)
}

func TestRecent_asksOnce(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	conversation := w.open().Conversation()
	w.on("GET "+recentPath, func(out http.ResponseWriter, r *http.Request) {
		if got, want := r.URL.RawQuery, "direction=asc&page=1&per_page=100&since=2026-06-01T11%3A59%3A59Z&sort=updated"; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
		says(200, "["+strings.Join([]string{
			saidJSON(1, 7, "pull", "2026-06-01T11:59:59Z", ""), // a second before
			saidJSON(2, 7, "pull", "2026-06-01T12:00:00Z", ""),
			saidJSON(3, 8, "issues", "2026-06-01T12:00:01Z", ""),
			saidJSON(4, 9, "pull", "2026-06-01T12:00:02Z", `,"performed_via_github_app":{"id":5,"slug":"helper"}`),
		}, ",")+"]")(out, r)
	})
	got, err := conversation.Recent(t.Context(), time.Date(2026, 6, 1, 12, 0, 0, 500, time.UTC), 10)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if one := got[0]; one.ID != 2 || one.Number != 7 || !one.Edited || one.Bot || one.Changed.Hour() != 12 {
		t.Errorf("got %+v", one)
	}
	if one := got[1]; one.Number != 9 || !one.Bot || one.Author.Bot {
		t.Errorf("an app in the name of a person: %+v", one)
	}
	w.expect("GET " + recentPath)
}

// moving is a list whose first comment is edited between pages: it moves to the end,
// and shifts the others by one.
type moving struct {
	first, asked int
}

func (m *moving) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	at := func(i int) time.Time { return time.Date(2026, 6, 1, 10, 0, i, 0, time.UTC) }
	var list []string
	for i := m.first; i < m.first+150; i++ {
		if !at(i).Before(since) {
			list = append(list, saidJSON(i%150+1, 7, "pull", at(i).Format(time.RFC3339), ""))
		}
	}
	m.first, m.asked = m.first+1, m.asked+1
	begin := min((page-1)*100, len(list))
	if end := begin + 100; end < len(list) {
		out.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, page+1))
		list = list[:end]
	}
	_, _ = io.WriteString(out, "["+strings.Join(list[begin:], ",")+"]")
}

func TestRecent_anEditBetweenPages(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	conversation, list := w.open().Conversation(), &moving{}
	w.on("GET "+recentPath, list.ServeHTTP)
	got, err := conversation.Recent(t.Context(), time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC), 200)
	if err != nil || len(got) != 150 || list.asked != 2 {
		t.Fatalf("got %d in %d requests, %v", len(got), list.asked, err)
	}
	seen := map[int64]bool{}
	for _, one := range got {
		seen[one.ID] = true
	}
	if len(seen) != 150 {
		t.Errorf("%d of 150 were seen", len(seen))
	}
}

// If more than a page of comments are from the same second, they are read by page
// number.
func TestRecent_manyOfOneSecond(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	conversation := w.open().Conversation()
	w.on("GET "+recentPath, numbered(w, recentPath, 250, func(i int) string { return saidJSON(i+1, 7, "pull", "2026-06-01T12:00:00Z", "") }, inList))
	got, err := conversation.Recent(t.Context(), time.Time{}, 1000)
	if err != nil || len(got) != 250 {
		t.Errorf("got %d, %v", len(got), err)
	}
}

func TestReact(t *testing.T) {
	t.Parallel()
	path := "POST " + repoPath + "/issues/comments/5/reactions"
	for reaction, content := range map[scm.Reaction]string{scm.ReactionDone: "+1", scm.ReactionRefused: "-1", scm.ReactionUnclear: "confused"} {
		w := newWire(t)
		conversation := w.open().Conversation()
		w.on(path, says(201, `{"id":1}`))
		if err := conversation.React(t.Context(), scm.Comment{ID: 5, Number: 7}, reaction); err != nil {
			t.Error(err)
		}
		if asked, bodies := w.requests(); len(asked) != 1 || asked[0] != path || decode(t, bodies[0])["content"] != content {
			t.Errorf("asked %v with %q", asked, bodies)
		}
	}
}

func TestReact_refused(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	conversation := w.open().Conversation()
	w.on("POST "+repoPath+"/issues/comments/5/reactions", says(404, `{"message":"Not Found"}`), says(403, `{"message":"Unable to create comment because issue is locked."}`))
	said := scm.Comment{ID: 5, Number: 7}
	checkFault(t, conversation.React(t.Context(), said, scm.ReactionDone), fault.NotFound, "reaction to comment 5 of pull request 7 of acme/deploy")
	checkFault(t, conversation.React(t.Context(), said, scm.ReactionDone), fault.Unauthorized, "locked")
}
