package github

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
)

const (
	commentsPath = repoPath + "/issues/7/comments"
	marker       = "<!-- promoter:prod -->"
)

func commentJSON(id int, login, body, updated string) string {
	return fmt.Sprintf(`{"id":%d,"user":{"login":%q},"body":%q,"created_at":"2026-06-01T10:00:00Z","updated_at":%q}`, id, login, body, updated)
}

func TestSay(t *testing.T) {
	t.Parallel()
	same := "[" + commentJSON(5, "Promoter", marker+"\r\nhello\r\n", "2026-06-01T10:00:00Z") + "]"
	for _, test := range []struct {
		name, comments, text string
		route, sent          string
	}{
		{"marker is put", "[]", "hello", "POST " + commentsPath, marker + "\nhello"},
		{"the same", same, marker + "\nhello", "", ""},
		{"too long", "[]", strings.Repeat("ä", maxBody), "POST " + commentsPath, cutBody(marker + "\n" + strings.Repeat("ä", maxBody))},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			conversation := w.open().Conversation()
			w.on("GET "+commentsPath, says(200, test.comments))
			if test.route != "" {
				w.on(test.route, says(200, `{}`))
			}
			if err := conversation.Say(t.Context(), 7, marker, test.text); err != nil {
				t.Fatal(err)
			}
			asked, bodies := w.requests()
			switch {
			case test.route == "" && len(asked) != 1:
				t.Errorf("asked %v", asked)
			case test.route != "" && (len(asked) != 2 || asked[1] != test.route || decode(t, bodies[1])["body"] != test.sent):
				t.Errorf("asked %v with %q", asked, bodies)
			}
		})
	}
}

func TestSay_refused(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	conversation := w.open().Conversation()
	w.on("GET "+commentsPath, says(200, "[]"))
	w.on("POST "+commentsPath, says(403, `{"message":"Repository was archived so is read-only."}`))
	checkFault(t, conversation.Say(t.Context(), 7, marker, "x"), fault.Unauthorized, "comment on pull request 7 of acme/deploy", "archived")
}
