package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Create opens a pull request. Gitea itself refuses a second one for the same head
// and base. When its answer is lost, the pull request is looked up and not asked for
// again.
//
// Labels, assignees and reviewers are separate requests, because one name that
// Gitea refuses would refuse the whole. When one of those fails, the pull request is
// returned beside the error: it is open.
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

// lost looks for a pull request whose creation got no answer. One of somebody
// else, or with another text, was there before.
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

// decorate sets what could make Gitea refuse the first request.
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
