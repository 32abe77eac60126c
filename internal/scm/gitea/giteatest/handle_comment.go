package giteatest

import (
	"net/http"
	"slices"
	"strconv"

	"promoter/internal/scm/forgetest"
)

// listComments is not paginated.
func listComments(c *call, p *pull) *reply {
	drawn := []object{}
	for _, one := range since(c, p.Comments()) {
		drawn = append(drawn, drawEvent(c, one))
	}
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
	return created(drawEvent(c, p.Happened(forgetest.Commented, c.who(), text)))
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
	return list(c, since(c, c.repo.model.Comments()), false, drawEvent)
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
	return ok(drawEvent(c, one))
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
	drawn := object{"user": drawUser(c, c.who()), "content": body.Reaction, "created_at": stamp(made.At)}
	if !added {
		return ok(drawn)
	}
	return created(drawn)
}
