package act

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// merge merges a pull request. Everything that decides is read again, then the head is
// verified, then the forge merges exactly that head.
func (x *executor) merge(ctx context.Context, effect outcome.Effect, files map[string][]byte) outcome.Effect {
	fresh, ready, err := x.recheck(ctx, effect.Proposal)
	if err != nil {
		return effect.Failed(err)
	}
	if !ready { // something changed since the observation: the next one knows
		effect.Deferred = true
		return effect
	}
	base := x.o.Promotion.BranchOf(effect.Environment)
	verified, err := newRewriter(x.c, x.o).verify(ctx, effect.Commit, fresh, base, x.o.Heads[base])
	if err != nil {
		return effect.Failed(err)
	}
	head, err := x.c.Objects.Commit(effect.Commit)
	if err != nil {
		return effect.Failed(err)
	}
	// Where the forge requires the base in the head, a merge of an older one would fail.
	behind := len(head.Parents) == 1 && head.Parents[0] != x.o.Heads[base]
	if !verified || behind && x.o.Promotion.Protected[fresh.Environment.Branch].Current {
		return x.rebuild(ctx, effect, files)
	}

	title, body := pullrequest.CommitMessage(pullrequest.Page{Proposal: fresh})
	if body != "" {
		body += "\n\n"
	}
	for _, trailer := range append(pullrequest.Trailers(fresh), x.c.StateBranch().Marks(x.o.Branch)...) {
		body += trailer.Key + ": " + trailer.Value + "\n"
	}
	wanted := scm.Merge{Head: effect.Commit, Base: base, Title: title, Message: body}
	merged, err := x.c.Forge.PullRequests().Merge(ctx, effect.Number, wanted)
	switch kind := fault.KindOf(err); {
	case errors.Is(err, scm.ErrBehind) && behind:
		return x.rebuild(ctx, notYet(effect, err), files)
	case errors.Is(err, scm.ErrBehind), kind == fault.Temporary:
		return notYet(effect, err)
	case kind == fault.Unauthorized:
		return x.refuseMerge(ctx, effect, err)
	case err != nil:
		return effect.Failed(fmt.Errorf("merge pull request #%d: %w", effect.Number, err))
	}
	x.landed = true
	effect.Action = outcome.ActionMerged
	x.about.set(effect.Head, nil)
	effect.Decisions = fresh.Decisions // with the users who approved
	effect.Err = x.deleteHead(ctx, effect).Err
	if merged.Commit != "" {
		effect.Commit = merged.Commit
		x.merged[base] = merged.Commit
	}
	return effect
}

// recheck reads again what may have changed since the observation: the pull request,
// its checks and reviews, the branches with user decisions and the config, and the
// time. It returns the proposal as it is now, and whether it may be merged.
func (x *executor) recheck(ctx context.Context, p propose.Proposal) (propose.Proposal, bool, error) {
	listed, err := x.c.Forge.PullRequests().Open(ctx)
	if err != nil {
		return p, false, fmt.Errorf("list the open pull requests: %w", err)
	}
	i := slices.IndexFunc(listed, func(pr scm.PullRequest) bool { return pr.Number == p.Open.Number })
	if i < 0 {
		return p, false, nil // it was closed or merged
	}
	open, err := observe.ReadPullRequest(ctx, x.c, x.o, listed[i], x.failures.LastAttempt())
	if err != nil {
		return p, false, err
	}
	refs, err := x.c.Remote.Refs(ctx)
	if err != nil {
		return p, false, fmt.Errorf("list the branches: %w", err)
	}
	for _, branch := range []string{state.Branch, x.o.Refs.Default, x.o.Promotion.BranchOf(p.Environment), p.Head} {
		now := refs.Branches[branch]
		if own, merged := x.merged[branch]; now != x.o.Heads[branch] && (!merged || now != own) {
			return p, false, fault.New(fault.Conflict, "%s moved meanwhile", branch)
		}
	}
	x.o.Now = x.c.Now()
	fresh, found, err := x.replan(ctx, open)
	if err != nil || !found {
		return p, false, err
	}
	same := slices.EqualFunc(fresh.Decisions, p.Decisions, func(a, b promotion.Decision) bool {
		return a.Target == b.Target && a.Snapshot.ID() == b.Snapshot.ID()
	})
	return fresh, fresh.Land && same, nil
}

// notYet is for a merge that the forge does not make now, and may make later.
func notYet(effect outcome.Effect, err error) outcome.Effect {
	effect.Deferred = true
	effect.Reason = promotion.Reason{Rule: promotion.RuleGate, Message: "the forge does not merge it yet: " + err.Error()}
	return effect
}

// refuseMerge is for a merge that the forge forbids. That is no failure but a state of
// the target: our commit status records it, and it is displayed like a gate. The merge
// is tried again when what was read before it differs, or after some time. A forge may
// not have seen the status yet that was set just before; then it is tried once more.
func (x *executor) refuseMerge(ctx context.Context, effect outcome.Effect, cause error) outcome.Effect {
	x.c.Log.DebugContext(ctx, "the forge refuses to merge", slog.Int("number", effect.Number), slog.Any("error", cause))
	if x.statusSet[effect.Commit] {
		x.again = true
		return notYet(effect, cause)
	}
	rule, text := "", cause.Error()
	if refused, ok := errors.AsType[*scm.RefusedError](cause); ok {
		rule, text = refused.Rule, refused.Words
	}
	open := x.o.Promotion.Open[effect.Head]
	refusal := pullrequest.NewRefusal(rule, text, x.o.Now, open)
	open.Refused = &refusal
	fresh, found, err := x.replan(ctx, open)
	if err != nil {
		effect.Err = err
		return effect
	}
	if found && fresh.Step == effect.Step {
		effect.Proposal = fresh
	}
	if effect = x.refreshText(ctx, effect, false); effect.Err != nil {
		return effect
	}
	return x.setStatus(ctx, effect)
}

// rebuild writes the head again on the current base: it contains something else, or the
// forge requires a newer base.
func (x *executor) rebuild(ctx context.Context, effect outcome.Effect, files map[string][]byte) outcome.Effect {
	if effect = x.writeHead(ctx, effect, files, effect.Commit); effect.Err == nil {
		effect.Action, x.again = outcome.ActionRefreshed, true // checks and reviews were for the old head
	}
	return effect
}
