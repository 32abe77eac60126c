package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// merge lands a pull request: once more everything is asked that decides, then the
// head is proven, then the forge merges exactly that head.
func (v *view) merge(ctx context.Context, done Effect, b built) Effect {
	fresh, ready, err := v.askAgain(ctx, done.Proposal)
	if err != nil || !ready {
		return failed(done, err)
	}
	proven, err := v.proven(ctx, done.Commit, fresh)
	if err != nil {
		return failed(done, err)
	}
	if !proven || v.isBehind(fresh, done.Commit) {
		return v.rebuild(ctx, done, b)
	}
	return v.land(ctx, done, fresh, b)
}

// land asks the forge for the merge, and says what came of it.
func (v *view) land(ctx context.Context, done Effect, fresh pullrequest.Proposal, b built) Effect {
	title, body := pullrequest.CommitMessage(pullrequest.Page{Proposal: fresh})
	merged, err := v.Repository.PullRequests().Merge(ctx, done.Number, scm.Merge{
		Head: done.Commit, Base: v.branchOf(done.Environment), Title: title,
		Message: withTrailers(body, promotion.Trailers(fresh.Environment.Name, snapshotsOf(fresh))),
	})
	switch kind := fault.KindOf(err); {
	case errors.Is(err, scm.ErrBehind):
		return v.outOfDate(ctx, notYet(done, err), b)
	case kind == fault.Temporary:
		return notYet(done, err)
	case kind == fault.Unauthorized:
		return v.refused(ctx, done, err)
	case err != nil:
		return failed(done, fmt.Errorf("merge pull request #%d: %w", done.Number, err))
	}
	done.Action, v.landed = ActionMerged, true
	head := done
	if merged.Commit != "" {
		done.Commit, v.merged[v.branchOf(done.Environment)] = merged.Commit, merged.Commit
	}
	done.Err = v.dropHead(ctx, head).Err
	return done
}

// withTrailers writes trailers below a message, where a forge makes the commit.
func withTrailers(body string, trailers []promotion.Trailer) string {
	if body != "" {
		body += "\n\n"
	}
	for _, t := range trailers {
		body += t.Key + ": " + t.Value + "\n"
	}
	return body
}

// askAgain looks at everything that may have changed since the pass began: the
// pull request, checks, reviews, the branches with people's decisions and the
// config, and the clock.
func (v *view) askAgain(ctx context.Context, p pullrequest.Proposal) (pullrequest.Proposal, bool, error) {
	opened, err := v.Repository.PullRequests().Open(ctx)
	if err != nil {
		return p, false, fmt.Errorf("list the open pull requests: %w", err)
	}
	i := slices.IndexFunc(opened, func(pr scm.PullRequest) bool { return pr.Number == p.Open.Number })
	if i < 0 {
		return p, false, nil // somebody closed or merged it
	}
	target, _ := promotion.ParseHead(p.Head)
	open, err := v.openOf(ctx, opened[i], target)
	if err != nil {
		return p, false, err
	}
	if err := v.stillThere(ctx, state.Branch, v.refs.Default, v.branchOf(p.Environment), p.Head); err != nil {
		return p, false, err
	}
	v.observed.Open[p.Head], v.now = open, v.Now()
	for _, fresh := range v.decide() {
		if fresh.Head == p.Head {
			return fresh, fresh.Land && sameDecisions(fresh, p), nil
		}
	}
	return p, false, nil
}

// stillThere says whether the branches are where this pass saw them, or where its
// own merges put them.
func (v *view) stillThere(ctx context.Context, branches ...string) error {
	refs, err := v.Remote.Refs(ctx)
	if err != nil {
		return fmt.Errorf("list the branches: %w", err)
	}
	for _, branch := range branches {
		now := refs.Branches[branch]
		if own, merged := v.merged[branch]; now != v.heads[branch] && (!merged || now != own) {
			return fault.New(fault.Conflict, "%s moved meanwhile", branch)
		}
	}
	return nil
}

func sameDecisions(a, b pullrequest.Proposal) bool {
	return slices.EqualFunc(a.Decisions, b.Decisions, func(x, y promotion.Decision) bool {
		return x.Target == y.Target && x.Snapshot.ID() == y.Snapshot.ID()
	})
}

// notYet is for a merge that the forge does not make now, and may later.
func notYet(done Effect, err error) Effect {
	done.Reason = promotion.Reason{Rule: promotion.RuleGate, Message: "the forge does not merge it yet: " + err.Error()}
	return done
}

// isBehind says whether the forge wants all of the base in the head, and the head
// lies on an older one: then no merge is tried in vain.
func (v *view) isBehind(p pullrequest.Proposal, head string) bool {
	if !v.observed.Protected[p.Environment.Branch].Current {
		return false
	}
	commit, err := v.Objects.Commit(head)
	return err == nil && commit.Parents[0] != v.heads[v.branchOf(p.Environment)]
}

// outOfDate is for a proven head that the forge finds out of date. On the present
// base there is nothing to build anew, and the next pass asks again.
func (v *view) outOfDate(ctx context.Context, done Effect, b built) Effect {
	head, err := v.Objects.Commit(done.Commit)
	if err != nil {
		return failed(done, err)
	}
	if head.Parents[0] == v.heads[v.branchOf(done.Environment)] {
		return done
	}
	return v.rebuild(ctx, done, b)
}

// rebuild writes the head anew on the present base: it holds what nobody asked
// for, or the forge will not merge it as it is.
func (v *view) rebuild(ctx context.Context, done Effect, b built) Effect {
	p, base := done.Proposal, v.heads[v.branchOf(done.Environment)]
	commit, err := v.commit(p, b, base)
	if err == nil {
		err = v.push(ctx, Update{Branch: p.Head, Old: done.Commit, New: commit})
	}
	if err != nil {
		return failed(done, fmt.Errorf("push %s: %w", p.Head, err))
	}
	// What was asked of checks and people is about the head before: look again.
	done.Action, done.Commit, v.again = ActionRefreshed, commit, true
	return done
}
