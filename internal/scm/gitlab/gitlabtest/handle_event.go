package gitlabtest

import (
	"net/http"
	"slices"
	"time"

	"promoter/internal/scm/forgetest"
)

// activitiesLimit is how many branches may move in a push that has an event for each of them.
// https://docs.gitlab.com/administration/settings/push_event_activities_limit/
const activitiesLimit = 3

// listPushes returns the events of pushes. Both limits are dates, which are left out.
// https://docs.gitlab.com/api/events/
func listPushes(c *call) *reply {
	all := c.project.model.MovesOf("")
	for name, outside := range map[string]func(at, day time.Time) bool{
		"after":  func(at, day time.Time) bool { return at.Before(day.AddDate(0, 0, 1)) },
		"before": func(at, day time.Time) bool { return !at.Before(day) },
	} {
		if c.text(name) == "" {
			continue
		}
		day, err := time.ParseInLocation(time.DateOnly, c.text(name), zone)
		if err != nil {
			return answer(http.StatusBadRequest, object{"error": name + " is invalid"})
		}
		all = slices.DeleteFunc(all, func(m forgetest.Move) bool { return outside(m.At, day) })
	}
	if c.text("sort") == "asc" {
		slices.Reverse(all)
	}
	all = slices.CompactFunc(all, func(a, b forgetest.Move) bool {
		return a.Together > activitiesLimit && a.At.Equal(b.At) && a.Together == b.Together
	})
	return list(c, all, drawPush)
}

// drawPush draws the event of a push. One of many branches does not name them.
func drawPush(c *call, m forgetest.Move) object {
	action, name := "pushed", "pushed to"
	switch {
	case m.After == "":
		action, name = "removed", "deleted"
	case m.Before == "":
		action, name = "created", "pushed new"
	}
	commit := func(id string) any {
		if id == "" {
			return nil
		}
		return id
	}
	data := object{
		"commit_count": 1, "action": action, "ref_type": "branch", "commit_from": commit(m.Before), "commit_to": commit(m.After), "ref": m.Branch,
		"commit_title": nil, "ref_count": nil,
	}
	if m.Together > activitiesLimit {
		data["commit_count"], data["commit_from"], data["commit_to"], data["ref"], data["ref_count"] = 0, nil, nil, nil, m.Together
	}
	return object{
		"id": m.ID, "project_id": c.project.model.ID, "action_name": name, "target_id": nil, "target_iid": nil, "target_type": nil,
		"author": drawUser(c, m.By), "author_username": m.By.Login, "created_at": stamp(m.At), "push_data": data,
	}
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
