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
	for _, p := range c.repo.sorted() {
		if listed(c, p, query.Get("state"), query.Get("head"), query.Get("base")) {
			found = append(found, p)
		}
	}
	if query.Get("sort") == "updated" {
		slices.SortStableFunc(found, func(a, b *pull) int { return a.updated.Compare(b.updated) })
	}
	ascending := query.Get("direction") == "asc" || query.Get("direction") == "" && query.Get("sort") != "" && query.Get("sort") != "created"
	if !ascending {
		slices.Reverse(found)
	}
	return list(c, found, drawPull)
}

func listed(c *call, p *pull, state, head, base string) bool {
	if state == "" {
		state = "open"
	}
	if state != "all" && p.open() != (state == "open") || base != "" && p.base != base {
		return false
	}
	owner, branch, byHead := strings.Cut(head, ":")
	if !byHead {
		return true // GitHub ignores a head without an owner
	}
	return p.from != nil && lower(p.from.owner) == lower(owner) && p.head == branch
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
	if owner, branch, qualified := strings.Cut(head, ":"); qualified && lower(owner) == lower(c.repo.owner) {
		head = branch
	}
	if refused := refuseCreate(c, head, body.Base, body.Title, body.Body); refused != nil {
		return refused
	}
	p := c.repo.openPull(c.who(), c.repo, head, body.Base, body.Title)
	p.body, p.draft = body.Body, body.Draft
	return created(drawWholePull(c, p))
}

func refuseCreate(c *call, head, base, title, text string) *reply {
	field := func(name string) *reply {
		return invalid(object{"resource": "PullRequest", "field": name, "code": "invalid"})
	}
	switch headCommit, baseCommit := c.repo.bare.Head(head), c.repo.bare.Head(base); {
	case title == "":
		return invalid(object{"resource": "Issue", "code": "missing_field", "field": "title"})
	case baseCommit == "":
		return field("base")
	case headCommit == "":
		return field("head")
	case c.repo.bare.Ancestor(headCommit, baseCommit):
		return invalid(object{"resource": "PullRequest", "code": "custom", "message": fmt.Sprintf("No commits between %s and %s", base, head)})
	}
	for _, p := range c.repo.pulls {
		if p.open() && p.from == c.repo && p.head == head && p.base == base {
			return invalid(object{"resource": "PullRequest", "code": "custom", "message": fmt.Sprintf("A pull request already exists for %s:%s.", c.repo.owner, head)})
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
	drawn["mergeable"], drawn["mergeable_state"] = p.mergeable()
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
		p.title = *body.Title
	}
	if body.Body != nil {
		p.body = *body.Body
	}
	p.touch()
	return ok(drawWholePull(c, p))
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func retarget(c *call, p *pull, base *string) *reply {
	if base == nil || *base == p.base {
		return nil
	}
	switch commit := c.repo.bare.Head(*base); {
	case commit == "":
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "invalid"})
	case !p.open():
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "custom", "message": "Cannot change the base branch of a closed pull request."})
	default:
		p.base, p.baseCommit = *base, commit
		return nil
	}
}

func changeState(c *call, p *pull, state string) *reply {
	switch {
	case state == "closed" && p.open():
		p.close(c.who())
	case state == "open" && p.merged:
		return invalid(object{"resource": "PullRequest", "code": "custom", "field": "state", "message": "state cannot be changed. The pull request cannot be reopened."})
	case state == "open" && !p.open():
		if p.from.bare.Head(p.head) == "" {
			return invalid(object{"resource": "PullRequest", "code": "custom", "field": "state", "message": fmt.Sprintf("state cannot be changed. The %s branch has been deleted.", p.head)})
		}
		p.headCommit = p.from.bare.Head(p.head)
		p.publishHead()
		p.reopen(c.who())
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
	commit, clean := p.merge(c.who(), body.Method, body.Title, body.Message)
	if !clean {
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	return ok(object{"sha": commit, "merged": true, "message": "Pull Request successfully merged"})
}

func refuseMerge(c *call, p *pull, head, method string) *reply {
	if !p.open() {
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	if head != "" && head != p.headCommit {
		return refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	}
	if !c.repo.methods[method] {
		names := map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}
		return refuse(http.StatusMethodNotAllowed, names[method]+" are not allowed on this repository.")
	}
	switch p.state() {
	case "dirty":
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case "draft":
		return refuse(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case "behind":
		return refuse(http.StatusMethodNotAllowed, "Head branch is out of date. Review and try the merge again.")
	case "blocked":
		if words := p.refusal(c.who()); words != "" {
			return refuse(http.StatusMethodNotAllowed, words)
		}
	}
	if words := p.refuseMethod(c.who(), method); words != "" {
		return refuse(http.StatusMethodNotAllowed, words)
	}
	return nil
}

func listReviews(c *call, p *pull) *reply { return list(c, p.reviews, drawReview(p)) }

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
		u := c.s.users[lower(login)]
		switch {
		case u == p.author:
			return refuse(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		case u == nil || c.repo.permissions[lower(login)] == "" || c.repo.permission(u) == "none":
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf(stranger, c.repo.fullName()))
		}
		people = append(people, u)
	}
	for _, slug := range body.Teams {
		if c.s.teams[lower(c.repo.owner+"/"+slug)] == nil {
			return refuse(http.StatusUnprocessableEntity, fmt.Sprintf(stranger, c.repo.fullName()))
		}
	}
	p.reviewers, p.teams = append(p.reviewers, people...), append(p.teams, body.Teams...)
	p.touch()
	return created(drawPull(c, p))
}
