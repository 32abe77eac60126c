package giteatest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"promoter/internal/scm"
)

func listReviews(c *call, p *pull) *reply { return list(c, p.Reviews, false, drawReview(p)) }

// requestReviewers looks up all names first, then adds one after the other.
func requestReviewers(c *call, p *pull) *reply {
	var body struct {
		Reviewers     []string `json:"reviewers"`
		TeamReviewers []string `json:"team_reviewers"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	var people []*user
	for _, name := range body.Reviewers {
		u := c.s.hub.Users[lower(name)]
		if u == nil {
			return refuse(http.StatusNotFound, fmt.Sprintf("User '%s' not exist", name))
		}
		people = append(people, u)
	}
	teams, refused := teamsOf(c, body.TeamReviewers)
	if refused != nil {
		return refused
	}
	asked := []object{}
	for _, u := range people {
		switch {
		case u == p.Author:
			return refuse(http.StatusUnprocessableEntity, "poster of pr can't be reviewer")
		case c.repo.model.Permission(u) == "none":
			return refuse(http.StatusUnprocessableEntity, "Reviewer can't read")
		case !slices.Contains(p.Reviewers, u):
			p.Reviewers = append(p.Reviewers, u)
		}
		asked = append(asked, object{"id": c.s.hub.NextID(), "user": drawUser(c, u), "state": "REQUEST_REVIEW", "commit_id": p.HeadCommit})
	}
	for _, one := range teams {
		p.Teams = append(p.Teams, one.name)
	}
	p.Happened("review_request", c.who(), "")
	return created(asked)
}

// teamsOf finds teams of the organization; for a user's repository they are ignored.
func teamsOf(c *call, names []string) ([]*team, *reply) {
	if !c.s.orgs[lower(c.repo.model.Owner)] {
		return nil, nil
	}
	var found []*team
	for _, name := range names {
		i := slices.IndexFunc(c.s.teams, func(t *team) bool { return lower(t.org) == lower(c.repo.model.Owner) && lower(t.name) == lower(name) })
		if i < 0 {
			return nil, refuse(http.StatusNotFound, fmt.Sprintf("Team '%s' not exist", name))
		}
		found = append(found, c.s.teams[i])
	}
	return found, nil
}

// reviewStates are Gitea's names.
var reviewStates = map[scm.ReviewState]string{
	scm.Approved: "APPROVED", scm.ChangesRequested: "REQUEST_CHANGES", scm.Commented: "COMMENT",
}

func drawReview(p *pull) func(*call, *review) object {
	return func(c *call, one *review) object {
		return object{
			"id": one.ID, "user": drawUser(c, one.Author), "team": nil, "state": cmp.Or(reviewStates[one.State], string(one.State)), "body": "", "commit_id": one.Commit,
			"stale": one.Commit != p.HeadCommit, "official": one.Official, "dismissed": one.Dismissed, "comments_count": 0,
			"submitted_at": stamp(one.At), "html_url": p.Repo.Page(), "pull_request_url": p.Repo.Page(),
		}
	}
}
