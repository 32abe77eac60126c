package gitea

import (
	"context"
	"net/http"
	"strings"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// MergedAs reads the pull request that was merged as a commit. Gitea has at most one.
func (r *repository) MergedAs(ctx context.Context, commit string) ([]scm.PullRequest, error) {
	if !rest.IsCommit(commit) {
		return nil, nil
	}
	found, resp, err := r.api(ctx).GetCommitPullRequest(r.owner, r.name, commit)
	if resp != nil && resp.Response != nil && resp.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, r.explain(r.noun("pull request of commit %s", rest.OneLine(commit)), answered(resp, err))
	}
	pull := pulls{r}.translate(found)
	if pull.State != scm.StateMerged || !strings.EqualFold(pull.Merged.Commit, commit) {
		return nil, nil
	}
	return []scm.PullRequest{pull}, nil
}
