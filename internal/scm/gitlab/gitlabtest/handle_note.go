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
func (c *call) obeys(text string) {
	if found := action.FindString(strings.ReplaceAll(text, "\r", "")); found != "" {
		c.t.Errorf("gitlabtest: %s: GitLab would obey %q", c.route, found)
	}
}

func (c *call) drawNote(m *request) func(*note) object {
	return func(n *note) object { return c.drawNoteOf(n, m.project, "MergeRequest", m.id, m.iid) }
}

func (c *call) drawNoteOf(n *note, p *Project, kind string, id, iid int) object {
	return object{
		"id": n.id, "type": orNull(n.kind), "body": n.body, "author": c.drawUser(n.author), "system": n.system,
		"created_at": stamp(n.created), "updated_at": stamp(n.updated), "noteable_id": id, "noteable_type": kind,
		"noteable_iid": iid, "project_id": p.id, "resolvable": false, "confidential": false, "internal": false,
	}
}

// listNotes returns the latest first by default.
func (c *call) listNotes(m *request) *reply {
	notes := slices.Clone(m.notes)
	if c.text("sort") != "asc" {
		slices.Reverse(notes)
	}
	return list(c, notes, c.drawNote(m))
}

func (c *call) words() (string, *reply) {
	body := c.text("body")
	c.obeys(body)
	switch {
	case body == "":
		return "", answer(http.StatusBadRequest, object{"error": "body is missing"})
	case utf8.RuneCountInString(body) > maxNote:
		return "", invalid("note", "is too long (maximum is 1000000 characters)")
	}
	return body, nil
}

func (c *call) createNote(m *request) *reply {
	text, refused := c.words()
	if refused != nil {
		return refused
	}
	return created(c.drawNote(m)(m.write(c.who(), text)))
}

func (c *call) editNote(m *request) *reply {
	text, refused := c.words()
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
		n.body, n.updated = text, c.time()
		return ok(c.drawNote(m)(n))
	}
	return notFound("Note ")
}
