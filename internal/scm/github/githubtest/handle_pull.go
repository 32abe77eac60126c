package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of pull requests, in characters.
const (
	maxTitle = 256
	maxText  = 65536
	maxLabel = 50
)

// listPulls filters and sorts as GitHub does; the default is by creation, newest
// first.
func listPulls(c *call) *reply {
	query := c.r.URL.Query()
	var found []*pull
	for _, p := range c.repo.model.Sorted() {
		if listed(p, query.Get("state"), query.Get("head"), query.Get("base")) {
			found = append(found, p)
		}
	}
	if query.Get("sort") == "updated" {
		slices.SortStableFunc(found, func(a, b *pull) int { return a.Updated.Compare(b.Updated) })
	}
	ascending := query.Get("direction") == "asc" || query.Get("direction") == "" && query.Get("sort") != "" && query.Get("sort") != "created"
	if !ascending {
		slices.Reverse(found)
	}
	return list(c, found, drawPull)
}

// listPullsOfCommit lists those that were merged as the commit, or have it as their head.
func listPullsOfCommit(c *call) *reply {
	commit := c.r.PathValue("ref")
	var found []*pull
	for _, p := range c.repo.model.Sorted() {
		if p.MergeCommit == commit || p.HeadCommit == commit {
			found = append(found, p)
		}
	}
	return list(c, found, drawPull)
}

func listed(p *pull, state, head, base string) bool {
	if state == "" {
		state = "open"
	}
	if state != "all" && p.IsOpen() != (state == "open") || base != "" && p.Base != base {
		return false
	}
	owner, branch, byHead := strings.Cut(head, ":")
	if !byHead {
		return true // GitHub ignores a head without an owner
	}
	return p.From != nil && lower(p.From.Owner) == lower(owner) && p.Head == branch
}

func createPull(c *call) *reply {
	var body struct {
		Title               string `json:"title"`
		Head                string `json:"head"`
		HeadRepo            string `json:"head_repo"`
		Base                string `json:"base"`
		Body                string `json:"body"`
		Draft               bool   `json:"draft"`
		MaintainerCanModify bool   `json:"maintainer_can_modify"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	head := body.Head
	if owner, branch, qualified := strings.Cut(head, ":"); qualified && lower(owner) == lower(c.repo.model.Owner) {
		head = branch
	}
	if refused := refuseCreate(c, head, body.Base, body.Title, body.Body); refused != nil {
		return refused
	}
	p := c.repo.model.Open(c.who(), c.repo.model, head, body.Base, body.Title)
	p.Body, of(p).draft = body.Body, body.Draft
	return created(drawWholePull(c, p))
}

func refuseCreate(c *call, head, base, title, text string) *reply {
	field := func(name string) *reply {
		return invalid(object{"resource": "PullRequest", "field": name, "code": "invalid"})
	}
	switch headCommit, baseCommit := c.repo.model.Bare.Head(head), c.repo.model.Bare.Head(base); {
	case title == "":
		return invalid(object{"resource": "Issue", "code": "missing_field", "field": "title"})
	case baseCommit == "":
		return field("base")
	case headCommit == "":
		return field("head")
	case c.repo.lateHeads > 0:
		c.repo.lateHeads--
		return field("head")
	case c.repo.model.Bare.Ancestor(headCommit, baseCommit):
		return invalid(object{"resource": "PullRequest", "code": "custom", "message": fmt.Sprintf("No commits between %s and %s", base, head)})
	}
	for _, p := range c.repo.model.Pulls {
		if p.IsOpen() && p.From == c.repo.model && p.Head == head && p.Base == base {
			return invalid(object{"resource": "PullRequest", "code": "custom", "message": fmt.Sprintf("A pull request already exists for %s:%s.", c.repo.model.Owner, head)})
		}
	}
	return tooLong(title, text)
}

func tooLong(title, text string) *reply {
	if utf8.RuneCountInString(title) > maxTitle {
		return invalid(object{"resource": "Issue", "code": "custom", "field": "title", "message": "title is too long (maximum is 256 characters)"})
	}
	if utf8.RuneCountInString(text) > maxText {
		return invalid(object{"resource": "Issue", "code": "custom", "field": "body", "message": "body is too long (maximum is 65536 characters)"})
	}
	return nil
}

func getPull(c *call, p *pull) *reply {
	drawn := drawWholePull(c, p)
	drawn["mergeable"], drawn["mergeable_state"] = mergeable(p)
	return ok(drawn)
}

func editPull(c *call, p *pull) *reply {
	var body struct {
		Title               *string `json:"title"`
		Body                *string `json:"body"`
		State               *string `json:"state"`
		Base                *string `json:"base"`
		MaintainerCanModify *bool   `json:"maintainer_can_modify"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	if refused := tooLong(value(body.Title), value(body.Body)); refused != nil {
		return refused
	}
	if refused := retarget(c, p, body.Base); refused != nil {
		return refused
	}
	if refused := changeState(c, p, value(body.State)); refused != nil {
		return refused
	}
	if body.Title != nil {
		p.Title = *body.Title
	}
	if body.Body != nil {
		p.Body = *body.Body
	}
	p.Touch()
	return ok(drawWholePull(c, p))
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func retarget(c *call, p *pull, base *string) *reply {
	if base == nil || *base == p.Base {
		return nil
	}
	switch commit := c.repo.model.Bare.Head(*base); {
	case commit == "":
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "invalid"})
	case !p.IsOpen():
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "custom", "message": "Cannot change the base branch of a closed pull request."})
	default:
		p.Base, of(p).baseCommit = *base, commit
		return nil
	}
}

func changeState(c *call, p *pull, state string) *reply {
	switch {
	case state == "closed" && p.IsOpen():
		p.Close(c.who())
	case state == "open" && p.Merged:
		return invalid(object{"resource": "PullRequest", "code": "custom", "field": "state", "message": "state cannot be changed. The pull request cannot be reopened."})
	case state == "open" && !p.IsOpen():
		if p.From.Bare.Head(p.Head) == "" {
			return invalid(object{"resource": "PullRequest", "code": "custom", "field": "state", "message": fmt.Sprintf("state cannot be changed. The %s branch has been deleted.", p.Head)})
		}
		p.HeadCommit = p.From.Bare.Head(p.Head)
		p.Publish()
		p.Reopen(c.who())
	}
	return nil
}

func mergePull(c *call, p *pull) *reply {
	var body struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string `json:"sha"`
		Method  string `json:"merge_method"`
	}
	if len(c.body) > 0 {
		if refused := c.read(&body); refused != nil {
			return refused
		}
	}
	if body.Method == "" {
		body.Method = "merge"
	}
	if refused := refuseMerge(c, p, body.SHA, body.Method); refused != nil {
		return refused
	}
	commit, clean := merge(p, c.who(), body.Method, body.Title, body.Message)
	if !clean {
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	return ok(object{"sha": commit, "merged": true, "message": "Pull Request successfully merged"})
}

func refuseMerge(c *call, p *pull, head, method string) *reply {
	if !p.IsOpen() {
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	if head != "" && head != p.HeadCommit {
		return refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	}
	if !c.repo.methods[method] {
		names := map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}
		return refuse(http.StatusMethodNotAllowed, names[method]+" are not allowed on this repository.")
	}
	switch stateOf(p) {
	case "dirty":
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case "draft":
		return refuse(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case "behind":
		return refuse(http.StatusMethodNotAllowed, "Head branch is out of date. Review and try the merge again.")
	case "blocked":
		if words := refusal(p, c.who()); words != "" {
			return refuse(http.StatusMethodNotAllowed, words)
		}
	}
	if words := refuseMethod(p, c.who(), method); words != "" {
		return refuse(http.StatusMethodNotAllowed, words)
	}
	return nil
}

func listReviews(c *call, p *pull) *reply { return list(c, p.Reviews, drawReview(p)) }

// requestReviewers accepts all or rejects all, as GitHub does.
func requestReviewers(c *call, p *pull) *reply {
	var body struct {
		Reviewers []string `json:"reviewers"`
		Teams     []string `json:"team_reviewers"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	const stranger = "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s repository."
	var people []*user
	for _, login := range body.Reviewers {
		u := c.s.hub.Users[lower(login)]
		switch {
		case u == p.Author:
			return refuse(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		case u == nil || c.repo.model.Permissions[lower(login)] == "" || c.repo.model.Permission(u) == "none":
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf(stranger, c.repo.model.FullName()))
		}
		people = append(people, u)
	}
	for _, slug := range body.Teams {
		if c.s.teams[lower(c.repo.model.Owner+"/"+slug)] == nil {
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf(stranger, c.repo.model.FullName()))
		}
	}
	p.Reviewers, p.Teams = append(p.Reviewers, people...), append(p.Teams, body.Teams...)
	p.Touch()
	return created(drawPull(c, p))
}
