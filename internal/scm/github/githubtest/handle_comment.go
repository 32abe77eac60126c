package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

func listComments(c *call, p *pull) *reply { return list(c, p.comments, drawComment) }

// words returns the body of a comment.
func words(c *call) (string, *reply) {
	var body struct {
		Body string `json:"body"`
	}
	if refused := c.read(&body); refused != nil {
		return "", refused
	}
	if body.Body == "" {
		return "", invalid(object{"resource": "IssueComment", "code": "missing_field", "field": "body"})
	}
	if utf8.RuneCountInString(body.Body) > maxText {
		return "", invalid(object{"resource": "IssueComment", "code": "custom", "field": "body", "message": "body is too long (maximum is 65536 characters)"})
	}
	return body.Body, nil
}

func createComment(c *call, p *pull) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	return created(drawComment(c, p.say(c.who(), text)))
}

func editComment(c *call, one *comment) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	one.body, one.updated = text, c.s.time()
	return ok(drawComment(c, one))
}

// onComment finds the comment of the path.
func onComment(handler func(c *call, one *comment) *reply) endpoint {
	return func(c *call) *reply {
		id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
		for _, one := range c.repo.comments() {
			if one.id == id {
				return handler(c, one)
			}
		}
		return refuse(http.StatusNotFound, "Not Found")
	}
}

// comments returns the comments of the whole repository, by number.
func (r *Repository) comments() []*comment {
	all := slices.Clone(r.asked)
	for _, p := range r.sorted() {
		all = append(all, p.comments...)
	}
	return all
}

// listAllComments includes comments on issues. It is not sorted by time by default.
func listAllComments(c *call) *reply {
	query := c.r.URL.Query()
	all := c.repo.comments()
	if text := query.Get("since"); text != "" {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			c.s.t.Errorf("githubtest: %s: since %q", c.route, text)
		}
		all = slices.DeleteFunc(all, func(one *comment) bool { return one.updated.Before(since) })
	}
	if query.Get("sort") == "updated" {
		slices.SortFunc(all, func(a, b *comment) int {
			return cmp.Or(a.updated.Truncate(time.Second).Compare(b.updated.Truncate(time.Second)), cmp.Compare(a.id, b.id))
		})
		if query.Get("direction") != "asc" {
			slices.Reverse(all)
		}
	}
	return list(c, all, drawComment)
}

// createReaction returns the existing reaction, if any.
func createReaction(c *call, one *comment) *reply {
	var body struct {
		Content string `json:"content"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if !slices.Contains([]string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}, body.Content) {
		return invalid(object{"resource": "Reaction", "code": "invalid", "field": "content"})
	}
	for _, there := range one.reactions {
		if there.author == c.who() && there.content == body.Content {
			return ok(drawReaction(c, there))
		}
	}
	made := &reaction{id: c.s.next(), author: c.who(), content: body.Content, at: c.s.time()}
	one.reactions = append(one.reactions, made)
	return created(drawReaction(c, made))
}

func drawReaction(c *call, one *reaction) object {
	return object{"id": one.id, "node_id": node(one.id), "user": drawUser(c, one.author), "content": one.content, "created_at": stamp(one.at)}
}

// Ask comments on a new issue.
func (r *Repository) Ask(who, body string) {
	r.s.act(func() {
		r.lastNumber++
		at := r.s.time()
		r.asked = append(r.asked, &comment{id: r.s.next(), repo: r, number: r.lastNumber, page: "issues", author: r.s.user(who), body: body, created: at, updated: at})
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
			p.comments = slices.DeleteFunc(p.comments, func(one *comment) bool { return one.id == id })
		}
	})
}

// Reactions returns the reactions to a comment, each as "CONTENT LOGIN".
func (r *Repository) Reactions(id int64) []string {
	var all []string
	r.s.act(func() {
		for _, one := range r.comments() {
			for _, there := range one.reactions {
				if one.id == id {
					all = append(all, there.content+" "+there.author.login)
				}
			}
		}
	})
	return all
}
