package giteatest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"promoter/internal/scm/forgetest"
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

// listTimeline reports the length of the page instead of that of the list.
func listTimeline(c *call, p *pull) *reply {
	answer := list(c, since(c, p.Events), false, drawEvent)
	drawn := answer.Body.([]object)
	answer.Header.Set("X-Total-Count", itoa(len(drawn)))
	if len(drawn) == 0 {
		answer.Header.Set("Content-Type", "application/json;charset=utf-8")
		answer.Body = forgetest.Plain("null")
	}
	return answer
}

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

// labeled is the kind of the events of labels.
const labeled = "label"

func addLabel(p *pull, by *user, name string) {
	if !slices.Contains(p.Labels, name) {
		p.Happened(labeled, by, name)
	}
	p.Label(name)
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
			addLabel(p, c.who(), one.name)
		}
	}
	return ok(drawLabels(c, p))
}

// listComments is not paginated.
func listComments(c *call, p *pull) *reply {
	drawn := forgetest.DrawAll(c, since(c, p.Comments()), drawComment)
	answer := ok(drawn)
	answer.Header.Set("X-Total-Count", itoa(len(drawn)))
	return answer
}

// words returns the body of a comment.
func words(c *call) (string, *reply) {
	var body struct {
		Body string `json:"body"`
	}
	if refused := c.read(&body); refused != nil {
		return "", refused
	}
	if body.Body == "" {
		return "", refuse(http.StatusUnprocessableEntity, "[Body]: Required")
	}
	return body.Body, nil
}

func createComment(c *call, p *pull) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	return created(drawComment(c, p.Happened(forgetest.Commented, c.who(), text)))
}

// onComment finds the comment of the path.
func onComment(handle func(c *call, one *event) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
		if one := c.repo.model.Comment(id); one != nil {
			return handle(c, one)
		}
		return notFound()
	}
}

// listAllComments includes comments on issues, by creation.
func listAllComments(c *call) *reply {
	return list(c, since(c, c.repo.model.Comments()), false, drawComment)
}

func editComment(c *call, one *event) *reply {
	text, refused := words(c)
	switch {
	case refused != nil:
		return refused
	case one.By != c.who() && !c.repo.model.Administers(c.who()):
		return bare(http.StatusForbidden)
	}
	one.Body, one.Updated = text, c.s.hub.Now()
	one.Pull.Touch()
	return ok(drawComment(c, one))
}

// createReaction returns the existing reaction, if any.
func createReaction(c *call, one *event) *reply {
	var body struct {
		Reaction string `json:"content"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if !slices.Contains([]string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}, body.Reaction) {
		return refuse(http.StatusForbidden, "'"+body.Reaction+"' is not an allowed reaction")
	}
	made, added := one.React(c.who(), body.Reaction)
	if !added {
		return ok(drawReaction(c, made))
	}
	return created(drawReaction(c, made))
}

func listReactions(c *call, one *event) *reply {
	all := []object{}
	for _, reaction := range one.Reactions {
		all = append(all, drawReaction(c, reaction))
	}
	return ok(all)
}

func drawReaction(c *call, one *forgetest.Reaction) object {
	return object{"user": drawUser(c, one.By), "content": one.Content, "created_at": stamp(one.At)}
}
