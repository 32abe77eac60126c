package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// maxCommitsShown is how many commits of a component a pull request lists.
const maxCommitsShown = 30

// page completes a proposal with what users read and no decision needs: the commits
// between the versions, and the commands in comments. With an error, some commits that
// exist may be missing, or commands may be listed that do not work.
func (r *Reconciler) page(ctx context.Context, o Observation, p pullrequest.Proposal) (pullrequest.Page, error) {
	page := pullrequest.Page{Proposal: p, Commits: map[pullrequest.Span]scm.Comparison{}}
	comments, err := r.commentReader(r.historyReader(o.Promotion.Config)).Usable(ctx, o.commented(), p)
	failed := onlyTemporary(err)
	page.Comments = comments
	host, _, _ := strings.Cut(string(r.Repository.Info().Key), "/")
	page.Decisions = slices.Clone(p.Decisions)
	for i, decision := range page.Decisions {
		moves := slices.Clone(decision.Moves)
		page.Decisions[i].Moves = moves
		for j := range moves {
			move := &moves[j]
			pinned, known := decision.Snapshot[move.Component]
			describe := func(version *image.Version) {
				if known {
					var err error
					*version, err = r.described(ctx, move.Component, pinned.Repository, *version)
					failed = cmp.Or(failed, err)
				}
			}
			describe(&move.To)
			// Only a repository from the config is read: an image could name one that the
			// reader of the pull request may not see.
			component, _ := o.Promotion.Config.Component(move.Component)
			source := strings.TrimPrefix(strings.TrimPrefix(component.Source, "https://"), host+"/")
			if source == "" || r.Compare == nil {
				continue
			}
			describe(&move.From)
			span, known := pullrequest.SpanOf(*move)
			if !known {
				continue
			}
			comparison, err := r.Compare.Compare(ctx, source, span.From, span.To, maxCommitsShown)
			if err == nil {
				page.Commits[span] = comparison
			}
			failed = cmp.Or(failed, onlyTemporary(err))
		}
	}
	rendered, err := r.rendered(ctx, o, p)
	page.Rendered = rendered
	return page, cmp.Or(failed, err)
}

// rendered returns what a proposal changes in rendered manifests, where the config asks for it.
// Only a temporary error is one: the reason of any other is shown.
func (r *Reconciler) rendered(ctx context.Context, o Observation, p pullrequest.Proposal) ([]pullrequest.Manifests, error) {
	head := o.Heads[p.Head]
	if !p.Environment.PullRequest.Rendered || head == "" {
		return nil, nil
	}
	all := pullrequest.Manifests{Name: p.Environment.Name}
	if r.Renderer == nil {
		all.Problem = "the server does not render manifests of this repository: name it under rendering in the server file"
		return []pullrequest.Manifests{all}, nil
	}
	manifests, err := r.renderHead(ctx, o, p, head)
	switch {
	case err == nil:
		return manifests, nil
	case onlyTemporary(err) != nil || ctx.Err() != nil:
		return nil, err
	}
	all.Problem = err.Error()
	return []pullrequest.Manifests{all}, nil
}

func (r *Reconciler) renderHead(ctx context.Context, o Observation, p pullrequest.Proposal, head string) ([]pullrequest.Manifests, error) {
	commit, err := r.Objects.Commit(head)
	if err != nil || len(commit.Parents) != 1 {
		return nil, repo.IgnoreNotFound(err)
	}
	if readable, err := r.historyReader(o.Promotion.Config).ReadParent(ctx, p.Head, commit); err != nil || !readable {
		return nil, err
	}
	changed, err := r.Objects.Changed(commit.Parents[0], head)
	if err != nil {
		return nil, fmt.Errorf("compare the files of %s with its base: %w", p.Head, err)
	}
	return r.Renderer.Rendered(ctx, commit.Parents[0], head, changed)
}

// summarize puts rendered manifests for which the body is too short into a check of the head,
// where the forge has such checks and the credential may write them. The body names the check.
func (r *Reconciler) summarize(ctx context.Context, page pullrequest.Page, head string) error {
	summaries, has := r.Repository.(scm.Summaries)
	if !has || !page.IsRenderedLong() {
		return nil
	}
	err := summaries.SetSummary(ctx, head, scm.Summary{Name: scm.RenderedCheck, Title: "Rendered manifests", Text: page.RenderedSummary()})
	if kind := fault.KindOf(err); kind == fault.Unauthorized || kind == fault.NotFound {
		return nil
	}
	return err
}

// described returns a version with its date and the commit from which it was built. Files
// and trailers do not contain them; the image may.
func (r *Reconciler) described(ctx context.Context, component string, repository image.Repository, version image.Version) (image.Version, error) {
	if version.Revision != "" && image.KnownCreated(version.Created) || version.Tag == "" && version.Digest == "" {
		return version, nil
	}
	fact := promotion.Fact{Repository: repository, Tag: version.Tag, Digest: version.Digest}
	resolved, err := r.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: component, Created: true})
	version.Revision = cmp.Or(version.Revision, resolved.Revision)
	if !image.KnownCreated(version.Created) {
		version.Created = resolved.Created
	}
	return version, onlyTemporary(err)
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
