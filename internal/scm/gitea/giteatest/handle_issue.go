package giteatest

import (
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// maxLabel bounds the length of label names, in characters.
const maxLabel = 50

// since omits entries that were last changed before the requested time.
func since(c *call, events []*event) []*event {
	at, err := time.Parse(time.RFC3339, c.r.URL.Query().Get("since"))
	if err != nil {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), func(e *event) bool { return e.Updated.Before(at) })
}

func listTimeline(c *call, p *pull) *reply { return list(c, since(c, p.Events), false, drawEvent) }

func listLabels(c *call) *reply { return list(c, c.repo.labels, false, drawLabel) }

// createLabel silently creates a duplicate of an existing name.
func createLabel(c *call) *reply {
	var body struct {
		Name        string `json:"name"`
		Color       string `json:"color"`
		Description string `json:"description"`
		Exclusive   bool   `json:"exclusive"`
		IsArchived  bool   `json:"is_archived"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	switch {
	case !c.repo.model.MayPush(c.who()):
		return refuse(http.StatusForbidden, "user should have a permission to write to a repo")
	case body.Name == "" || utf8.RuneCountInString(body.Name) > maxLabel || body.Color == "":
		return refuse(http.StatusUnprocessableEntity, "[Name]: MaxSize")
	}
	if slices.ContainsFunc(c.repo.labels, func(l *label) bool { return l.name == body.Name }) {
		c.s.t.Errorf("giteatest: a second label %q", body.Name)
	}
	made := &label{id: c.s.hub.NextID(), name: body.Name}
	c.repo.labels = append(c.repo.labels, made)
	return created(drawLabel(c, made))
}

// addLabels silently ignores unknown IDs.
func addLabels(c *call, p *pull) *reply {
	var body struct {
		Labels []int64 `json:"labels"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if !c.repo.model.MayPush(c.who()) {
		return refuse(http.StatusForbidden, "write permission is required")
	}
	for _, one := range c.repo.labels {
		if slices.Contains(body.Labels, one.id) {
			p.Label(one.name)
		}
	}
	return ok(drawLabels(c, p))
}
