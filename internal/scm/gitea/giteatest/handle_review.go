package giteatest

import (
	"fmt"
	"net/http"
	"slices"
)

func listReviews(c *call, p *pull) *reply { return list(c, p.reviews, false, drawReview(p)) }

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
		u := c.s.users[lower(name)]
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
		case u == p.author:
			return refuse(http.StatusUnprocessableEntity, "poster of pr can't be reviewer")
		case c.repo.permission(u) == "none":
			return refuse(http.StatusUnprocessableEntity, "Reviewer can't read")
		case !slices.Contains(p.reviewers, u):
			p.reviewers = append(p.reviewers, u)
		}
		asked = append(asked, object{"id": c.s.next(), "user": drawUser(c, u), "state": "REQUEST_REVIEW", "commit_id": p.headCommit})
	}
	p.teams = append(p.teams, teams...)
	p.happened("review_request", c.who(), "")
	return created(asked)
}

// teamsOf finds teams of the organization; for a user's repository they are ignored.
func teamsOf(c *call, names []string) ([]*team, *reply) {
	if !c.s.orgs[lower(c.repo.owner)] {
		return nil, nil
	}
	var found []*team
	for _, name := range names {
		i := slices.IndexFunc(c.s.teams, func(t *team) bool { return lower(t.org) == lower(c.repo.owner) && lower(t.name) == lower(name) })
		if i < 0 {
			return nil, refuse(http.StatusNotFound, fmt.Sprintf("Team '%s' not exist", name))
		}
		found = append(found, c.s.teams[i])
	}
	return found, nil
}

func drawReview(p *pull) func(*call, *review) object {
	return func(c *call, one *review) object {
		return object{
			"id": one.id, "user": drawUser(c, one.author), "team": nil, "state": one.state, "body": "", "commit_id": one.commit,
			"stale": one.commit != p.headCommit, "official": one.official, "dismissed": one.dismissed, "comments_count": 0,
			"submitted_at": stamp(one.at), "html_url": c.s.page(p.repo), "pull_request_url": c.s.page(p.repo),
		}
	}
}
