package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Create opens a pull request. Gitea itself rejects a second one for the same head
// and base. If the response is lost, the pull request is looked up, and the request
// is not repeated.
//
// Labels, assignees and reviewers are separate requests, because one name that Gitea
// rejects would fail the whole request. If one of those fails, the pull request is
// returned along with the error: it is open.
func (p pulls) Create(ctx context.Context, draft scm.Draft) (scm.PullRequest, error) {
	noun := p.noun("pull request from %s", rest.OneLine(draft.Head))
	wanted := sdk.CreatePullRequestOption{Head: draft.Head, Base: draft.Base, Title: cutTitle(draft.Title), Body: cutBody(draft.Body)}
	if draft.AsDraft {
		wanted.Title = cutTitle(draftPrefix + draft.Title)
	}
	pull, resp, err := p.forge.api(ctx).CreatePullRequest(p.owner, p.name, wanted)
	var opened scm.PullRequest
	switch err = explain(noun, answered(resp, err)); fault.KindOf(err) {
	case "":
		opened = p.translate(pull)
	case fault.Temporary:
		opened, err = p.lost(ctx, wanted, err)
	}
	if err != nil {
		return scm.PullRequest{}, err
	}
	err = p.decorate(ctx, &opened, draft)
	return opened, err
}

// lost looks for a pull request whose creation got no response. A pull request by
// another user, or with another text, existed before.
func (p pulls) lost(ctx context.Context, wanted sdk.CreatePullRequestOption, cause error) (scm.PullRequest, error) {
	found, err := pages(1, p.list(ctx, sdk.StateOpen, ""), func(pull *sdk.PullRequest) (scm.PullRequest, bool) {
		translated := p.translate(pull)
		ours := translated.Head.Own && translated.Head.Branch == wanted.Head && translated.Base == wanted.Base && p.info.Self.Same(translated.Author)
		return translated, ours && pull.Title == wanted.Title && rest.SameText(translated.Body, wanted.Body)
	})
	if err != nil || len(found) == 0 {
		return scm.PullRequest{}, cause
	}
	return found[0], nil
}

// decorate sets the fields that could make Gitea reject the first request.
func (p pulls) decorate(ctx context.Context, pull *scm.PullRequest, draft scm.Draft) error {
	if len(draft.Labels) > 0 {
		labels, err := p.label(ctx, pull.Number, draft.Labels)
		if err != nil {
			return err
		}
		pull.Labels = labels
	}
	if err := p.assign(ctx, pull.Number, draft.Assignees); err != nil {
		return err
	}
	return p.review(ctx, pull.Number, draft.Reviewers)
}
