package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Closed lists closed and merged pull requests. For each one it fetches the message
// of its head, and, if it was not merged, the user who closed it.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	noun := p.noun("closed pull requests from %s", rest.OneLine(head))
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	options := p.from(gogithub.PullRequestListOptions{State: "closed", Sort: "created", Direction: "desc"}, head)
	closed, err := p.list(ctx, options, limit, func(pull scm.PullRequest) bool { return pull.Head.Own && pull.Head.Branch == head })
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

// complete fetches what a list does not include. Neither changes: both responses are
// cached with their ETags.
func (p pulls) complete(ctx context.Context, pull *scm.PullRequest) error {
	commit, _, err := p.forge.api.Git.GetCommit(ctx, p.owner, p.name, pull.Head.Commit)
	if err != nil {
		return err
	}
	pull.Head.Message = commit.GetMessage()
	if pull.State != scm.StateClosed {
		return nil
	}
	pull.Closer, err = p.closer(ctx, pull.Number)
	return err
}

// closer fetches the user who closed a pull request, which only its issue includes.
// If the issue cannot be read, the user is empty: our own closes are known without
// it.
func (p pulls) closer(ctx context.Context, number int) (identity.User, error) {
	issue, _, err := p.forge.api.Issues.Get(ctx, p.owner, p.name, number)
	switch fault.KindOf(explain("", err)) {
	case fault.NotFound, fault.Unauthorized:
		return identity.User{}, nil
	}
	if err != nil {
		return identity.User{}, err
	}
	return p.forge.person(issue.GetClosedBy()), nil
}
