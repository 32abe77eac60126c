package gitlabtest

import (
	"net/http"
	"slices"
	"time"

	"promoter/internal/scm/forgetest"
)

// deletion is the deletion of a branch.
type deletion struct {
	id     int64
	branch string
	by     *user
	at     time.Time
}

// pushed records deleted branches.
func pushed(push forgetest.Push) {
	p := own(push.To)
	for branch := range push.Before {
		if push.Now[branch] == "" {
			p.deleted = append(p.deleted, deletion{id: push.To.Hub.NextID(), branch: branch, by: push.By, at: push.To.Hub.Now()})
		}
	}
}

// listPushes returns the events of pushes, of which only deletions of branches matter. Both limits are dates,
// which are left out.
// https://docs.gitlab.com/api/events/
func listPushes(c *call) *reply {
	after, err := time.ParseInLocation(time.DateOnly, c.text("after"), zone)
	if err != nil {
		return answer(http.StatusBadRequest, object{"error": "after is invalid"})
	}
	before, err := time.ParseInLocation(time.DateOnly, c.text("before"), zone)
	if err != nil {
		return answer(http.StatusBadRequest, object{"error": "before is invalid"})
	}
	all := slices.DeleteFunc(slices.Clone(c.project.deleted), func(d deletion) bool {
		return d.at.Before(after.AddDate(0, 0, 1)) || !d.at.Before(before)
	})
	if c.text("sort") != "asc" {
		slices.Reverse(all)
	}
	return list(c, all, func(c *call, d deletion) object {
		return object{
			"id": d.id, "project_id": c.project.model.ID, "action_name": "deleted", "target_id": nil, "target_iid": nil, "target_type": nil,
			"author": drawUser(c, d.by), "author_username": d.by.Login, "created_at": stamp(d.at),
			"push_data": object{"commit_count": 0, "action": "removed", "ref_type": "branch", "ref": d.branch, "commit_to": nil},
		}
	})
}

// listStateEvents returns the oldest first.
// https://docs.gitlab.com/api/resource_state_events/
func listStateEvents(c *call, m *request) *reply {
	states := map[string]string{forgetest.Closed: "closed", forgetest.Reopened: "reopened", forgetest.Merged: "merged"}
	turns := slices.DeleteFunc(slices.Clone(m.Events), func(e *note) bool { return states[e.Kind] == "" })
	return list(c, turns, func(c *call, e *note) object {
		return object{
			"id": e.ID, "user": drawUser(c, e.By), "created_at": stamp(e.Created), "resource_type": "MergeRequest", "resource_id": m.ID,
			"state": states[e.Kind],
		}
	})
}
