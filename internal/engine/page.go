package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/command"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/verb"
)

// maxCommitsShown is how many commits of a component a pull request lists.
const maxCommitsShown = 30

// page completes a proposal with what users read and no decision needs: the commits
// between the versions, and the commands in comments. With an error, some commits that
// exist may be missing, or commands may be listed that do not work.
func (r *Reconciler) page(ctx context.Context, o Observation, p pullrequest.Proposal) (pullrequest.Page, error) {
	page := pullrequest.Page{Proposal: p, Commits: map[pullrequest.Span]scm.Comparison{}}
	var failed error
	page.Comments, failed = r.commentsOn(ctx, o, p)
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
	return page, failed
}

// commentsOn returns which commands users can write on the pull request of a proposal;
// nil if promoter reads no comments.
func (r *Reconciler) commentsOn(ctx context.Context, o Observation, p pullrequest.Proposal) (*pullrequest.Comments, error) {
	if r.Permissions == nil || !r.Repository.Features().Comments {
		return nil, nil //nolint:nilnil // none is no error
	}
	var about pullRequestTargets
	for _, d := range p.Decisions {
		about.targets = append(about.targets, d.Target)
	}
	comments := &pullrequest.Comments{Allowed: map[verb.Verb][]string{}}
	var requested []promotion.Target
	for _, environment := range o.Promotion.Config.Order() {
		into := targetsOf(o, command.Command{Verb: verb.Promote, Environment: environment}, about)
		if slices.ContainsFunc(into, func(target promotion.Target) bool { return isOnRequest(o, target, p.Environment.Name) }) {
			comments.Promote, requested = append(comments.Promote, environment), append(requested, into...)
		}
	}
	for v, targets := range map[verb.Verb][]promotion.Target{
		verb.Hold: about.targets, verb.Resume: about.targets, verb.Promote: requested,
		verb.Reject: slices.Collect(maps.Keys(o.Promotion.Targets)), // everywhere
	} {
		if named, covered := r.Permissions.Named(v, deployments(o, targets)...); covered {
			comments.Allowed[v] = named
		}
	}
	limited, is := r.Repository.(scm.LimitsPermissions)
	if !is {
		return comments, nil
	}
	limit, err := limited.PermissionLimit(ctx)
	comments.OnlyNamed = limit.All
	return comments, onlyTemporary(err)
}

// isOnRequest reports whether a target gets what a parent has only on request.
func isOnRequest(o Observation, target promotion.Target, parent string) bool {
	settings := o.Promotion.Settings(target.Environment, target.Application)
	_, present := o.Promotion.Targets[target]
	return present && settings.Propose == config.ProposeManual &&
		slices.ContainsFunc(settings.After, func(after config.Parent) bool { return after.Environment == parent })
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
