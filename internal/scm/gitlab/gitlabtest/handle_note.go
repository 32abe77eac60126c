package gitlabtest

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
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

// onNote finds the note of the path.
func onNote(handle func(c *call, n *note) *reply) func(c *call, m *request) *reply {
	return func(c *call, m *request) *reply {
		for _, n := range m.Events {
			if itoa(n.ID) == c.r.PathValue("note") {
				return handle(c, n)
			}
		}
		return notFound("")
	}
}

func listAwards(c *call, n *note) *reply { return list(c, n.Reactions, drawAward(n)) }

func drawAward(n *note) func(*call, *award) object {
	return func(c *call, a *award) object {
		return object{
			"id": a.ID, "name": a.Content, "user": drawUser(c, a.By), "created_at": stamp(a.At), "updated_at": stamp(a.At),
			"awardable_id": n.ID, "awardable_type": "Note", "url": nil,
		}
	}
}

// createAward changes the time of the note too. A duplicate name is rejected as not
// found.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/lib/api/award_emoji.rb
func createAward(c *call, n *note) *reply {
	name := c.text("name")
	if !slices.Contains([]string{"thumbsup", "thumbsdown", "confused", "eyes"}, name) {
		return notFound("Award Emoji Name is not a valid emoji name ")
	}
	made, added := n.React(c.who(), name)
	if !added {
		return notFound("Award Emoji Name has already been taken ")
	}
	n.Updated = made.At
	return created(drawAward(n)(c, made))
}

// zone is the time zone of the server, in which days are counted. It is the
// westernmost zone.
var zone = time.FixedZone("UTC-12", -12*60*60)

// listEvents lists the creation of notes, by day: an edit is not an event. Without
// asc the latest comes first.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/finders/events_finder.rb
func listEvents(c *call) *reply {
	switch c.text("action") {
	case "commented":
	case "pushed":
		return listPushes(c)
	default:
		c.s.t.Errorf("gitlabtest: %s: no events but those of notes and pushes", c.route)
	}
	after, err := time.ParseInLocation(time.DateOnly, c.text("after"), zone)
	if err != nil {
		return answer(http.StatusBadRequest, object{"error": "after is invalid"})
	}
	all := slices.DeleteFunc(remarks(c), func(n *note) bool { return n.Created.Before(after.AddDate(0, 0, 1)) })
	if c.text("sort") != "asc" {
		slices.Reverse(all)
	}
	return list(c, all, func(c *call, n *note) object {
		kind := n.Kind
		if kind == forgetest.Commented {
			kind = "Note"
		}
		return object{
			"id": n.ID, "project_id": c.project.model.ID, "action_name": "commented on", "target_id": n.ID, "target_iid": n.ID,
			"target_type": kind, "author": drawUser(c, n.By), "author_username": n.By.Login, "created_at": stamp(n.Created), "note": drawNote(c, n),
		}
	})
}

// remarks returns the notes of the project by users, oldest first.
func remarks(c *call) []*note {
	all := c.project.model.Comments()
	for _, m := range c.project.model.Pulls {
		for _, n := range m.Events {
			if n.Kind == diffNote {
				all = append(all, n)
			}
		}
	}
	slices.SortFunc(all, func(a, b *note) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
