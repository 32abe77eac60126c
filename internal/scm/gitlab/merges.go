package gitlab

import (
	"context"
	"strings"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// MergedAs lists the merge requests of a commit, which are also those that only contain it.
// https://docs.gitlab.com/api/commits/#list-merge-requests-associated-with-a-commit
func (r *repository) MergedAs(ctx context.Context, commit string) ([]scm.PullRequest, error) {
	if !rest.IsCommit(commit) {
		return nil, nil
	}
	noun := r.noun("merge requests of commit %s", rest.OneLine(commit))
	found, _, err := r.forge.api.Commits.ListMergeRequestsByCommit(r.id, commit, in(ctx))
	if wasNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(noun, err)
	}
	var merged []scm.PullRequest
	for _, mr := range found {
		pull := pulls{r}.translate(mr)
		if pull.State != scm.StateMerged {
			continue
		}
		if pull.Merged, err = (pulls{r}).landed(ctx, pull.Merged, pull.Head.Commit, pull.Base); err != nil {
			return nil, explain(noun, err)
		}
		if strings.EqualFold(pull.Merged.Commit, commit) {
			merged = append(merged, pull)
		}
	}
	return merged, nil
}
