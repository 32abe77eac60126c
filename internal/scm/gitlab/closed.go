package gitlab

import (
	"context"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Closed lists closed and merged merge requests. For each one it fetches the message
// of its head, which GitLab keeps when the branch is deleted.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	noun := p.noun("closed merge requests from %s", rest.OneLine(head))
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	closed, err := p.list(ctx, gogitlab.ListProjectMergeRequestsOptions{SourceBranch: &head}, limit, func(pull scm.PullRequest) bool {
		return pull.State != scm.StateOpen && pull.Head.Own && pull.Head.Branch == head
	})
	if err != nil {
		return nil, explain(noun, err)
	}
	for i := range closed {
		if err := p.complete(ctx, &closed[i]); err != nil {
			return nil, explain(noun, err)
		}
	}
	return closed, nil
}

// complete fetches what a list does not include.
func (p pulls) complete(ctx context.Context, pull *scm.PullRequest) (err error) {
	if pull.Head.Message, err = p.message(ctx, pull.Head.Commit); err != nil || pull.State != scm.StateMerged {
		return err
	}
	pull.Merged, err = p.landed(ctx, pull.Merged, pull.Head.Commit, pull.Base)
	return err
}

// message returns the message of a commit, empty if the commit does not exist.
func (p pulls) message(ctx context.Context, commit string) (string, error) {
	if !rest.IsCommit(commit) {
		return "", nil
	}
	found, _, err := p.forge.api.Commits.GetCommit(p.id, commit, nil, in(ctx))
	if wasNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return found.Message, nil
}
