package gitea

import (
	"context"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm/rest"
)

// assign sets assignees. Gitea returns a 5xx error if one of them may not be
// assigned, so the allowed ones are fetched first.
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

// review requests reviews. Gitea rejects all names because of one.
func (p pulls) review(ctx context.Context, number int, names []string) error {
	err := rest.ForAll(rest.Reviewers(names, p.owner, p.info.Self.Login), func(names []string) error {
		var wanted sdk.PullReviewRequestOptions
		wanted.Reviewers, wanted.TeamReviewers = rest.PeopleAndTeams(names)
		resp, err := p.forge.api(ctx).CreateReviewRequests(p.owner, p.name, int64(number), wanted)
		return answered(resp, err)
	}, refusesName)
	return explain(p.noun("reviewers of pull request %d", number), err)
}

// refusesName reports whether Gitea does not know a user, or not as a reader.
func refusesName(err error) bool {
	status := statusOf(err)
	return status == http.StatusUnprocessableEntity || status == http.StatusNotFound
}
