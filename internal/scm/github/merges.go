package github

import (
	"context"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// MergedAs lists the pull requests of a commit, which are also those that only contain it.
// https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit
func (r *repository) MergedAs(ctx context.Context, commit string) ([]scm.PullRequest, error) {
	noun := r.noun("pull requests of commit %s", rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return nil, nil
	}
	options := &gogithub.ListOptions{PerPage: rest.PerPage}
	found, _, err := r.forge.api.PullRequests.ListPullRequestsWithCommit(ctx, r.owner, r.name, commit, options)
	if err = explain(noun, err); err != nil {
		if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.Invalid { // there is no such commit
			return nil, nil
		}
		return nil, err
	}
	var merged []scm.PullRequest
	for _, pull := range found {
		one := pulls{r}.translate(pull)
		if one.State == scm.StateMerged && strings.EqualFold(one.Merged.Commit, commit) {
			merged = append(merged, one)
		}
	}
	return merged, nil
}
