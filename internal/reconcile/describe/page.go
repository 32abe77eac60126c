package describe

import (
	"cmp"
	"context"
	"fmt"

	"promoter/internal/drift"
	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// Page completes a proposal with what users read and no decision needs: what changed, and
// the commands in comments. With an error, commands may be listed that do not work.
func (d Describer) Page(ctx context.Context, o observe.Observation, p propose.Proposal) (pullrequest.Page, error) {
	page := pullrequest.Page{Proposal: p, Changes: map[pullrequest.ChangeKey]pullrequest.Change{}}
	comments, err := d.Clients.Comments(d.Users, d.Clients.History(o.Promotion.Config)).Usable(ctx, o.Commented(), p)
	page.Comments = comments
	targets := make([]promotion.Target, len(p.Decisions))
	for i, decision := range p.Decisions {
		targets[i] = decision.Target
	}
	for _, one := range drift.Of(outcome.DriftOf(o, nil), targets...) {
		if one.Kind != drift.Missing {
			page.Drift = append(page.Drift, one.String())
		}
	}
	for _, moved := range page.Changed() {
		key := pullrequest.KeyOf(moved.Move)
		// What is written on a copy has no readers.
		if _, read := page.Changes[key]; read || moved.Form != "" || moved.Repository.IsZero() {
			continue
		}
		if d.Readers.Images == nil || len(page.Changes) == maxChanges {
			continue
		}
		change, err := d.change(ctx, o, moved)
		page.Changes[key] = change
		page.Incomplete = page.Incomplete || err != nil
	}
	rendered, renderErr := d.rendered(ctx, o, p)
	page.Rendered = rendered
	return page, cmp.Or(onlyTemporary(err), renderErr)
}

// rendered returns what a proposal changes in rendered manifests, where the config asks for it.
// Only a temporary error is one: the reason of any other is shown.
func (d Describer) rendered(ctx context.Context, o observe.Observation, p propose.Proposal) ([]pullrequest.Manifests, error) {
	head := o.Heads[p.Head]
	if !p.Environment.PullRequest.Rendered || head == "" {
		return nil, nil
	}
	all := pullrequest.Manifests{Name: p.Environment.Name}
	if d.Readers.Renderer == nil {
		all.Problem = "the server does not render manifests of this repository: name it under rendering in the server file"
		return []pullrequest.Manifests{all}, nil
	}
	manifests, err := renderHead(ctx, d.Readers.Renderer, d.Clients.History(o.Promotion.Config), p.Head, head)
	switch {
	case err == nil:
		return manifests, nil
	case onlyTemporary(err) != nil || ctx.Err() != nil:
		return nil, err
	}
	all.Problem = err.Error()
	return []pullrequest.Manifests{all}, nil
}

// renderHead returns what the head commit of a branch changes in rendered manifests.
func renderHead(ctx context.Context, renderer Renderer, history landing.Reader, branch, head string) ([]pullrequest.Manifests, error) {
	commit, err := history.Objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 {
		return nil, repo.IgnoreNotFound(err)
	}
	if readable, err := history.ReadParent(ctx, branch, commit); err != nil || !readable {
		return nil, err
	}
	changed, err := history.Objects.Changed(commit.Parents[0], head)
	if err != nil {
		return nil, fmt.Errorf("compare the files of %s with its base: %w", branch, err)
	}
	return renderer.Rendered(ctx, commit.Parents[0], head, changed)
}

// Summarize puts rendered manifests for which the body is too short into a check of the head,
// where the forge has such checks and the credential may write them. The body names the check.
func Summarize(ctx context.Context, repository scm.Repository, page pullrequest.Page, head string) error {
	summaries, has := repository.(scm.Summaries)
	if !has || !page.IsRenderedLong() {
		return nil
	}
	err := summaries.SetSummary(ctx, head, scm.Summary{Name: scm.RenderedCheck, Title: "Rendered manifests", Text: page.RenderedSummary()})
	if kind := fault.KindOf(err); kind == fault.Unauthorized || kind == fault.NotFound {
		return nil
	}
	return err
}

// onlyTemporary returns an error that may go away soon. What does not exist, or may not
// be seen, stays so.
func onlyTemporary(err error) error {
	switch fault.KindOf(err) {
	case fault.Temporary, fault.RateLimited:
		return err
	default:
		return nil
	}
}
