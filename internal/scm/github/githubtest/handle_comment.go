package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
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

func listComments(c *call, p *pull) *reply { return list(c, p.Comments(), drawComment) }

// updated returns when a comment last changed by GitHub's account: often some time after it
// was created, although no user edited it.
// https://github.com/palantir/policy-bot/pull/459
func (s *Server) updated(one *comment) time.Time {
	if late := one.Created.Add(s.lateComments); one.Edited.IsZero() && late.After(one.Updated) {
		return late
	}
	return one.Updated
}

// DelayComments makes the time of change of comments that no user edited later than that of
// their creation.
func (s *Server) DelayComments(by time.Duration) { s.act(func() { s.lateComments = by }) }

// queryComments answers the only query of the GraphQL API: when comments were edited.
// https://docs.github.com/en/graphql/reference/objects#issuecomment
func queryComments(c *call) *reply {
	var body struct {
		Query     string `json:"query"`
		Variables struct {
			IDs []string `json:"ids"`
		} `json:"variables"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if !strings.Contains(body.Query, "nodes(ids:$ids)") || !strings.Contains(body.Query, "... on IssueComment{id lastEditedAt}") || len(body.Variables.IDs) > 100 {
		c.s.t.Errorf("githubtest: query %s", body.Query)
	}
	nodes := []any{}
	for _, id := range body.Variables.IDs {
		nodes = append(nodes, drawEdited(c, id))
	}
	return ok(object{"data": object{"nodes": nodes}})
}

// drawEdited returns a node, null if the token may not read it.
func drawEdited(c *call, id string) any {
	for _, repo := range c.s.hub.Repos {
		for _, one := range repo.Comments() {
			switch {
			case node(one.ID) != id || !c.token.sees(repo):
			case one.Edited.IsZero():
				return object{"id": id, "lastEditedAt": nil}
			default:
				return object{"id": id, "lastEditedAt": stamp(one.Edited)}
			}
		}
	}
	return nil
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
	return created(drawComment(c, p.Happened(forgetest.Commented, c.who(), text)))
}

func editComment(c *call, one *comment) *reply {
	text, refused := words(c)
	if refused != nil {
		return refused
	}
	one.Reword(text)
	return ok(drawComment(c, one))
}

// onComment finds the comment of the path.
func onComment(handle func(c *call, one *comment) *reply) handler {
	return func(c *call) *reply {
		id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
		if one := c.repo.model.Comment(id); one != nil {
			return handle(c, one)
		}
		return refuse(http.StatusNotFound, "Not Found")
	}
}

// listAllComments includes comments on issues. It is not sorted by time by default.
func listAllComments(c *call) *reply {
	query := c.r.URL.Query()
	all := c.repo.model.Comments()
	if text := query.Get("since"); text != "" {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			c.s.t.Errorf("githubtest: %s: since %q", c.route, text)
		}
		all = slices.DeleteFunc(all, func(one *comment) bool { return c.s.updated(one).Before(since) })
	}
	if query.Get("sort") == "updated" {
		slices.SortFunc(all, func(a, b *comment) int {
			return cmp.Or(c.s.updated(a).Truncate(time.Second).Compare(c.s.updated(b).Truncate(time.Second)), cmp.Compare(a.ID, b.ID))
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
	made, added := one.React(c.who(), body.Content)
	if !added {
		return ok(drawReaction(c, made))
	}
	return created(drawReaction(c, made))
}

func listReactions(c *call, one *comment) *reply { return list(c, one.Reactions, drawReaction) }

func drawReaction(c *call, one *forgetest.Reaction) object {
	return object{"id": one.ID, "node_id": node(one.ID), "user": drawUser(c, one.By), "content": one.Content, "created_at": stamp(one.At)}
}
