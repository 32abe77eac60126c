package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
)

// Edit changes the fields that are set. It sends no request if none is set.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	var change gogithub.PullRequest
	if edit.Title != nil {
		change.Title = gogithub.String(cutTitle(*edit.Title))
	}
	if edit.Body != nil {
		change.Body = gogithub.String(cutBody(*edit.Body))
	}
	if edit.Base != nil {
		change.Base = &gogithub.PullRequestBranch{Ref: edit.Base}
	}
	if edit.Closed != nil {
		change.State = gogithub.String("open")
		if *edit.Closed {
			change.State = gogithub.String("closed")
		}
	}
	if change.Title != nil || change.Body != nil || change.Base != nil || change.State != nil {
		if _, _, err := p.forge.api.PullRequests.Edit(ctx, p.owner, p.name, number, &change); err != nil {
			return explain(p.noun("pull request %d", number), err)
		}
	}
	_, err := p.label(ctx, number, edit.AddLabels)
	return err
}
