package gitlab

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

func eventJSON(note string) string {
	return `{"id":1,"action_name":"commented on","created_at":"2026-06-01T12:00:00.000Z","note":` + note + `}`
}

func noteJSON(id, more string) string {
	return `{"id":` + id + `,"body":"word ` + id + `","author":{"id":3,"username":"ann"},"system":false,"created_at":"2026-06-01T12:00:00.500Z",
"updated_at":"2026-06-01T12:00:00.500Z","noteable_type":"MergeRequest","noteable_iid":7` + more + `}`
}

func TestRecent_asksOnce(t *testing.T) {
	t.Parallel()
	list := []string{
		eventJSON(noteJSON("1", `,"type":null`)),
		eventJSON(noteJSON("2", `,"type":"DiscussionNote","updated_at":"2026-06-01T12:00:09.000Z"`)),
		eventJSON(noteJSON("3", `,"type":"DiffNote"`)),
		eventJSON(noteJSON("4", `,"noteable_type":"Issue"`)),
		eventJSON(noteJSON("5", `,"system":true`)),
		eventJSON(noteJSON("6", `,"created_at":"2026-06-01T11:59:59.999Z"`)),
		eventJSON(noteJSON("7", `,"noteable_iid":0`)),
		eventJSON(`null`),
	}
	repo := opened(t, map[string]http.HandlerFunc{
		"GET /users/3": says(200, `{"id":3,"username":"ann","bot":false}`),
		"GET /projects/42/events": func(w http.ResponseWriter, r *http.Request) {
			if got, want := r.URL.RawQuery, "action=commented&after=2026-05-30&per_page=100&sort=asc"; got != want {
				t.Errorf("asked %s, want %s", got, want)
			}
			_, _ = io.WriteString(w, "["+strings.Join(list, ",")+"]")
		},
	})
	got, err := repo.Conversation().Recent(t.Context(), time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), 10)
	if err != nil || len(got) != 2 || got[0].ID != 1 || got[0].Edited || got[1].ID != 2 || !got[1].Edited || got[1].Number != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Days end by the server's clock, which may be in any time zone.
func TestDayBefore(t *testing.T) {
	t.Parallel()
	for hour := range 48 {
		since := time.Date(2026, 3, 1, hour, 30, 0, 0, time.UTC)
		for offset := -12; offset <= 14; offset++ {
			zone := time.FixedZone("", offset*3600)
			day := dayBefore(since)
			end := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, zone)
			if end.After(since) || since.Sub(end) > 64*time.Hour {
				t.Errorf("since %s: after %s, which ends at %s", since, day.Format(time.DateOnly), end)
			}
		}
	}
}

// A missing note and an existing emoji have the same response.
func TestReact_tellsGoneFromTaken(t *testing.T) {
	t.Parallel()
	const path = "/projects/42/merge_requests/7/notes/5/award_emoji"
	said := scm.Comment{ID: 5, Number: 7}
	for name, test := range map[string]struct {
		there http.HandlerFunc
		want  fault.Kind
	}{
		"ours":              {says(200, `[{"id":1,"name":"thumbsup","user":{"id":1,"username":"Promoter"}}]`), ""},
		"of somebody else":  {says(200, `[{"id":1,"name":"thumbsup","user":{"id":2,"username":"ann"}}]`), fault.NotFound},
		"another of ours":   {says(200, `[{"id":1,"name":"confused","user":{"id":1,"username":"promoter"}}]`), fault.NotFound},
		"gone":              {says(404, `{"message":"404 Not found"}`), fault.NotFound},
		"cannot be told":    {says(502, `<html>`), fault.Temporary},
		"none may be asked": {says(403, `{"message":"403 Forbidden"}`), fault.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := opened(t, map[string]http.HandlerFunc{
				"POST " + path: says(404, `{"message":"404 Award Emoji Name has already been taken Not Found"}`), "GET " + path: test.there,
				"GET /projects/42": says(200, projectJSON),
			})
			err := repo.Conversation().React(t.Context(), said, scm.ReactionDone)
			if err == nil && test.want == "" {
				return
			}
			if fault.KindOf(err) != test.want || !strings.Contains(err.Error(), "reaction to note 5 on merge request 7 of acme/deploy") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// An account that GitLab does not show may be one that it hides for now, so that it is asked about again.
func TestRecent_asksAgainAboutAnAccountThatIsNotFound(t *testing.T) {
	t.Parallel()
	asked := 0
	repo := opened(t, map[string]http.HandlerFunc{
		"GET /users/3": func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 1 {
				says(404, `{"message":"404 User Not Found"}`)(w, r)
				return
			}
			says(200, `{"id":3,"username":"ann","bot":true}`)(w, r)
		},
		"GET /projects/42/events": says(200, "["+eventJSON(noteJSON("1", `,"type":null`))+"]"),
	})
	for _, want := range []bool{false, true, true} {
		got, err := repo.Conversation().Recent(t.Context(), time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), 10)
		if err != nil || len(got) != 1 || got[0].Bot != want {
			t.Errorf("got %+v, %v; want a bot: %t", got, err, want)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
