package gitlabtest

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// remark is the event of creating a note.
type remark struct {
	note *note
	draw func() object
}

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
	all := slices.DeleteFunc(remarks(c), func(one remark) bool { return one.note.created.Before(after.AddDate(0, 0, 1)) })
	if c.text("sort") != "asc" {
		slices.Reverse(all)
	}
	return list(c, all, func(_ *call, one remark) object {
		author := drawUser(c, one.note.author)
		return object{
			"id": one.note.id, "project_id": c.project.id, "action_name": "commented on", "target_id": one.note.id, "target_iid": one.note.id,
			"target_type": cmp.Or(one.note.kind, "Note"), "author": author, "author_username": one.note.author.name,
			"created_at": stamp(one.note.created), "note": one.draw(),
		}
	})
}

// remarks returns the notes of the project by users, oldest first.
func remarks(c *call) []remark {
	var all []remark
	for i, n := range c.project.asked {
		all = append(all, remark{n, func() object { return drawNoteOf(c, n, c.project, "Issue", 70000+i, i+1) }})
	}
	for _, m := range c.project.requests {
		for _, n := range m.notes {
			if !n.system {
				all = append(all, remark{n, func() object { return drawNote(m)(c, n) }})
			}
		}
	}
	slices.SortFunc(all, func(a, b remark) int { return cmp.Compare(a.note.id, b.note.id) })
	return all
}
