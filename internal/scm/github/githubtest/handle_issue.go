package githubtest

import (
	"net/http"
	"slices"
	"unicode/utf8"

	"promoter/internal/scm/forgetest"
)

// getIssue returns a pull request as an issue, which is the only object that includes
// the closer.
func getIssue(c *call, p *pull) *reply { return ok(drawIssue(c, p)) }

// listEvents lists the timeline without the comments.
func listEvents(c *call, p *pull) *reply {
	return list(c, slices.DeleteFunc(slices.Clone(p.Events), func(e *event) bool { return e.Kind == forgetest.Commented }), drawEvent)
}

func addLabels(c *call, p *pull) *reply {
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
		if !c.repo.hasLabel(name) && c.token.installation != nil && !c.token.permits("issues=write") {
			refused := refuse(http.StatusForbidden, "You do not have permission to create labels on this repository.")
			refused.Body.(object)["errors"] = []object{{"resource": "Repository", "field": "label", "code": "unauthorized"}}
			return refused
		}
	}
	for _, name := range body.Labels {
		p.Label(name)
	}
	return ok(drawLabels(c, p))
}

// addAssignees silently omits users who cannot be assigned.
func addAssignees(c *call, p *pull) *reply {
	var body struct {
		Assignees []string `json:"assignees"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	for _, login := range body.Assignees {
		if u := c.s.hub.Users[lower(login)]; u != nil && c.repo.model.MayPush(u) && !slices.Contains(p.Assignees, u) {
			p.Assignees = append(p.Assignees, u)
		}
	}
	p.Touch()
	return created(drawIssue(c, p))
}
