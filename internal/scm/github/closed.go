package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/identity"
	"promoter/internal/scm"
)

// Closed lists those that are closed or merged. It asks per pull request for the
// message of its head, and for who closed it where it was not merged.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	noun := p.noun("closed pull requests from %s", oneLine(head))
	options := gogithub.PullRequestListOptions{State: "closed", Head: p.owner + ":" + head, Sort: "created", Direction: "desc"}
	found, err := p.list(ctx, options, limit)
	if err != nil {
		return nil, explain(noun, err)
	}
	var all []scm.PullRequest
	for _, pull := range found {
		translated := p.translate(pull)
		if !translated.Head.Own || translated.Head.Branch != head {
			continue
		}
		if err := p.complete(ctx, &translated); err != nil {
			return nil, explain(noun, err)
		}
		all = append(all, translated)
	}
	return all, nil
}

// complete asks for what a list does not tell. Neither changes: both answers are
// kept with their ETags.
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

func (p pulls) closer(ctx context.Context, number int) (identity.Person, error) {
	issue, _, err := p.forge.api.Issues.Get(ctx, p.owner, p.name, number)
	if err != nil {
		return identity.Person{}, err
	}
	return p.forge.person(issue.GetClosedBy()), nil
}
