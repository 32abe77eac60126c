package gitlabtest

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"promoter/internal/scm/forgetest"
)

// zone is the time zone of the server, in which days are counted. It is the
// westernmost zone.
var zone = time.FixedZone("UTC-12", -12*60*60)

// listEvents lists the creation of notes, by day: an edit is not an event. Without
// asc the latest comes first.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/finders/events_finder.rb
func listEvents(c *call) *reply {
	if c.text("action") != "commented" {
		c.s.t.Errorf("gitlabtest: %s: no events but those of notes", c.route)
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
