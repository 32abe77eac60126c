package githubtest

import (
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"
)

// getIssue is a pull request as an issue, which alone tells who closed it.
func (c *call) getIssue(p *pull) *reply { return ok(c.drawIssue(p)) }

func (c *call) listEvents(p *pull) *reply { return list(c, p.events, c.drawEvent) }

func (c *call) listComments(p *pull) *reply { return list(c, p.comments, c.drawComment) }

// words is the body of a comment.
func (c *call) words() (string, *reply) {
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

func (c *call) createComment(p *pull) *reply {
	text, refused := c.words()
	if refused != nil {
		return refused
	}
	return created(c.drawComment(p.say(c.who(), text)))
}

func (c *call) editComment() *reply {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	for _, p := range c.repo.pulls {
		for _, one := range p.comments {
			if one.id == id {
				return c.rewrite(one)
			}
		}
	}
	return refuse(http.StatusNotFound, "Not Found")
}

func (c *call) rewrite(one *comment) *reply {
	text, refused := c.words()
	if refused != nil {
		return refused
	}
	one.body, one.updated = text, c.time()
	return ok(c.drawComment(one))
}

func (c *call) addLabels(p *pull) *reply {
	var body struct {
		Labels []string `json:"labels"`
	}
	if c.body[0] == '[' { // both forms are documented
		c.body = slices.Concat([]byte(`{"labels":`), c.body, []byte(`}`))
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	for _, name := range body.Labels {
		if name == "" || utf8.RuneCountInString(name) > maxLabel {
			return invalid(object{"resource": "Label", "code": "custom", "field": "name", "message": "name is too long (maximum is 50 characters)"})
		}
	}
	for _, name := range body.Labels {
		if c.repo.labels[name] == 0 && c.token.installation != nil && !c.token.permits("issues=write") {
			refused := refuse(http.StatusForbidden, "You do not have permission to create labels on this repository.")
			refused.body.(object)["errors"] = []object{{"resource": "Repository", "field": "label", "code": "unauthorized"}}
			return refused
		}
	}
	for _, name := range body.Labels {
		p.label(name)
	}
	return ok(c.drawLabels(p))
}

// addAssignees leaves out who cannot be assigned, without a word.
func (c *call) addAssignees(p *pull) *reply {
	var body struct {
		Assignees []string `json:"assignees"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	for _, login := range body.Assignees {
		if u := c.users[lower(login)]; u != nil && c.repo.mayPush(u) && !slices.Contains(p.assignees, u) {
			p.assignees = append(p.assignees, u)
		}
	}
	p.touch()
	return created(c.drawIssue(p))
}
