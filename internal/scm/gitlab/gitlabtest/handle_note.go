package gitlabtest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
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

func drawNote(m *request) func(*call, *note) object {
	return func(c *call, n *note) object { return drawNoteOf(c, n, m.project, "MergeRequest", m.id, m.iid) }
}

func drawNoteOf(c *call, n *note, p *Project, kind string, id, iid int) object {
	return object{
		"id": n.id, "type": orNull(n.kind), "body": n.body, "author": drawUser(c, n.author), "system": n.system,
		"created_at": stamp(n.created), "updated_at": stamp(n.updated), "noteable_id": id, "noteable_type": kind,
		"noteable_iid": iid, "project_id": p.id, "resolvable": false, "confidential": false, "internal": false,
	}
}

// listNotes returns the latest first by default.
func listNotes(c *call, m *request) *reply {
	notes := slices.Clone(m.notes)
	if c.text("sort") != "asc" {
		slices.Reverse(notes)
	}
	return list(c, notes, drawNote(m))
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
	return created(drawNote(m)(c, m.write(c.who(), text)))
}

func editNote(c *call, m *request) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	for _, n := range m.notes {
		if itoa(n.id) != c.r.PathValue("note") {
			continue
		}
		if n.author != c.who() {
			return forbidden()
		}
		n.body, n.updated = text, c.s.time()
		return ok(drawNote(m)(c, n))
	}
	return notFound("Note ")
}
