package giteatest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

// listComments is not paginated.
func listComments(c *call, p *pull) *reply {
	drawn := []object{}
	for _, one := range since(c, p.comments()) {
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
	return created(drawEvent(c, p.happened("comment", c.who(), text)))
}

// onComment finds the comment of the path.
func onComment(handle func(c *call, one *event) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
		for _, one := range c.repo.comments() {
			if one.id == id {
				return handle(c, one)
			}
		}
		return notFound()
	}
}

// comments returns the comments of the whole repository, by creation.
func (r *Repository) comments() []*event {
	all := slices.Clone(r.asked)
	for _, p := range r.pulls {
		all = append(all, p.comments()...)
	}
	slices.SortFunc(all, func(a, b *event) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	return all
}

// listAllComments includes comments on issues, by creation.
func listAllComments(c *call) *reply {
	return list(c, since(c, c.repo.comments()), false, drawEvent)
}

func editComment(c *call, one *event) *reply {
	text, refused := words(c)
	switch {
	case refused != nil:
		return refused
	case one.by != c.who() && !c.repo.administers(c.who()):
		return bare(http.StatusForbidden)
	}
	one.body, one.updated = text, c.s.time()
	one.pull.touch()
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
	told := object{"user": drawUser(c, c.who()), "content": body.Reaction, "created_at": stamp(one.updated)}
	wanted := body.Reaction + " " + c.who().login
	if slices.Contains(one.reactions, wanted) {
		return ok(told)
	}
	one.reactions = append(one.reactions, wanted)
	return created(told)
}

// Ask comments on a new issue.
func (r *Repository) Ask(who, body string) {
	r.s.act(func() {
		r.lastNumber++
		at := r.s.time()
		r.asked = append(r.asked, &event{id: r.s.next(), kind: "comment", repo: r, issue: r.lastNumber, by: r.s.user(who), body: body, created: at, updated: at})
	})
}

// Reword edits a comment.
func (r *Repository) Reword(id int64, body string) {
	r.s.act(func() {
		for _, one := range r.comments() {
			if one.id == id {
				one.body, one.updated = body, r.s.time()
			}
		}
	})
}

// Unsay deletes a comment.
func (r *Repository) Unsay(id int64) {
	r.s.act(func() {
		for _, p := range r.pulls {
			p.events = slices.DeleteFunc(p.events, func(one *event) bool { return one.id == id })
		}
	})
}

// Reactions returns the reactions to a comment, each as "CONTENT LOGIN".
func (r *Repository) Reactions(id int64) []string {
	var all []string
	r.s.act(func() {
		for _, one := range r.comments() {
			if one.id == id {
				all = slices.Clone(one.reactions)
			}
		}
	})
	return all
}
