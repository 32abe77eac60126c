package gitlabtest

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"promoter/internal/scm/forgetest"
)

// action matches a quick action.
var action = regexp.MustCompile(`(?m)^/[a-zA-Z_]+`)

// obeys fails the test if GitLab would execute a quick action in a text. It removes
// carriage returns first.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/lib/gitlab/quick_actions/extractor.rb
func obeys(c *call, text string) {
	if found := action.FindString(strings.ReplaceAll(text, "\r", "")); found != "" {
		c.s.t.Errorf("gitlabtest: %s: GitLab would obey %q", c.route, found)
	}
}

// systemNotes are the texts of system notes about events of the model.
var systemNotes = map[string]string{
	forgetest.Closed: "closed", forgetest.Reopened: "reopened", forgetest.Merged: "merged", forgetest.HeadPushed: "added 1 commit",
}

func drawNote(c *call, n *note) object {
	drawn := object{
		"id": n.ID, "type": nil, "body": cmp.Or(systemNotes[n.Kind], n.Body), "author": drawUser(c, n.By), "system": isSystem(n),
		"created_at": stamp(n.Created), "updated_at": stamp(n.Updated), "noteable_id": 70000 + n.Number, "noteable_type": "Issue",
		"noteable_iid": n.Number, "project_id": n.Repo.ID, "resolvable": false, "confidential": false, "internal": false,
	}
	if n.Pull != nil {
		drawn["noteable_id"], drawn["noteable_type"] = n.Pull.ID, "MergeRequest"
	}
	if n.Kind == diffNote {
		drawn["type"] = diffNote
	}
	return drawn
}

// listNotes returns the latest first by default.
func listNotes(c *call, m *request) *reply {
	notes := slices.Clone(m.Events)
	if c.text("sort") != "asc" {
		slices.Reverse(notes)
	}
	return list(c, notes, drawNote)
}

func words(c *call) (string, *reply) {
	body := c.text("body")
	obeys(c, body)
	switch {
	case body == "":
		return "", answer(http.StatusBadRequest, object{"error": "body is missing"})
	case utf8.RuneCountInString(body) > maxNote:
		return "", invalid("note", "is too long (maximum is 1000000 characters)")
	}
	return body, nil
}

func createNote(c *call, m *request) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	return created(drawNote(c, m.Happened(forgetest.Commented, c.who(), text)))
}

func editNote(c *call, m *request) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	for _, n := range m.Events {
		if itoa(n.ID) != c.r.PathValue("note") {
			continue
		}
		if n.By != c.who() {
			return forbidden()
		}
		n.Body, n.Updated = text, c.s.hub.Now()
		return ok(drawNote(c, n))
	}
	return notFound("Note ")
}
