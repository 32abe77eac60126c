package gitea

import (
	"context"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"
)

// assign sets assignees. Gitea answers with an accident when one of them may not be
// assigned, so those who may are asked for first.
func (p pulls) assign(ctx context.Context, number int, names []string) error {
	if len(names) == 0 {
		return nil
	}
	noun := p.noun("assignees of pull request %d", number)
	may, resp, err := p.forge.api(ctx).GetAssignees(p.owner, p.name)
	if err != nil {
		return explain(noun, answered(resp, err))
	}
	var kept []string
	for _, user := range may {
		for _, name := range names {
			if user != nil && strings.EqualFold(user.UserName, name) {
				kept = append(kept, user.UserName)
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, resp, err = p.forge.api(ctx).EditPullRequest(p.owner, p.name, int64(number), sdk.EditPullRequestOption{Assignees: kept})
	return explain(noun, answered(resp, err))
}

// review asks for reviews. Gitea refuses all names because of one: then they are
// asked for one by one.
func (p pulls) review(ctx context.Context, number int, names []string) error {
	reviewers := p.reviewers(names)
	if len(reviewers) == 0 {
		return nil
	}
	err := p.request(ctx, number, reviewers)
	if refusesName(err) && len(reviewers) > 1 {
		for _, one := range reviewers {
			if err = p.request(ctx, number, []string{one}); err != nil && !refusesName(err) {
				break
			}
		}
	}
	if refusesName(err) {
		return nil
	}
	return explain(p.noun("reviewers of pull request %d", number), err)
}

// reviewers leaves out our own account, which Gitea refuses as the author, and
// teams of other organisations.
func (p pulls) reviewers(names []string) []string {
	var kept []string
	for _, name := range names {
		team, isTeam := strings.CutPrefix(name, teamPrefix)
		group, _, _ := strings.Cut(team, "/")
		foreign := isTeam && !strings.EqualFold(group, p.owner)
		if !foreign && !strings.EqualFold(name, p.info.Self.Login) {
			kept = append(kept, name)
		}
	}
	return kept
}

func (p pulls) request(ctx context.Context, number int, names []string) error {
	var wanted sdk.PullReviewRequestOptions
	for _, name := range names {
		if team, ok := strings.CutPrefix(name, teamPrefix); ok {
			_, short, _ := strings.Cut(team, "/")
			wanted.TeamReviewers = append(wanted.TeamReviewers, short)
		} else {
			wanted.Reviewers = append(wanted.Reviewers, name)
		}
	}
	resp, err := p.forge.api(ctx).CreateReviewRequests(p.owner, p.name, int64(number), wanted)
	return answered(resp, err)
}

// teamPrefix stands before GROUP/NAME.
const teamPrefix = "team:"

// refusesName says that Gitea does not know somebody, or not as a reader.
func refusesName(err error) bool {
	status := statusOf(err)
	return status == http.StatusUnprocessableEntity || status == http.StatusNotFound
}
