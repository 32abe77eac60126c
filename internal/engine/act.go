package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"promoter/internal/comments"
	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/repo"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// act carries out a plan and reports the effects. It works on a copy of the
// observation. With again, another reconciliation should follow at once, because
// something landed or may land now.
func (r *Reconciler) act(ctx context.Context, o Observation, plan Plan) (report Report, refs *repo.Refs, again bool, err error) {
	x := newExecutor(r, o, plan)
	err = x.execute(ctx)
	if x.landed && fault.KindOf(err) == fault.Conflict {
		err = nil // it restarts anyway, and this is no failed attempt
	}
	report = x.o.finalReport(x.plan, x.effects)
	if !report.Failed() {
		refs = x.knownRefs()
	}
	return report, refs, x.landed || x.again, err
}

// knownRefs returns the branches as they are after our pushes, so that the reconciliation that follows
// needs no listing of its own to verify them. A push of a user in between is found by the next event or
// poll, and each of our pushes is conditional on where its branch is. Nil: a pull request was merged, or is
// open and could be merged next, which needs a listing.
func (x *executor) knownRefs() *repo.Refs {
	if len(x.merged) > 0 || len(ourBranches(x.o)) > 0 {
		return nil
	}
	return &x.o.Refs
}

// executor carries out one plan.
type executor struct {
	r       *Reconciler
	o       Observation // with the results of our own effects
	plan    Plan        // replaced where a push or a merge has to be decided again
	effects []Effect

	merged    map[string]string          // by branch, the commit of our last merge into it
	written   map[string]map[string]bool // by branch, the files that were pushed to it
	statusSet map[string]bool            // by commit, whether our status was set just now
	landed    bool                       // something reached an environment's branch
	again     bool                       // something was written that may land at once
}

func newExecutor(r *Reconciler, o Observation, plan Plan) *executor {
	return &executor{
		r: r, o: o.clone(), plan: plan, again: o.Refreshed,
		merged: map[string]string{}, written: map[string]map[string]bool{}, statusSet: map[string]bool{},
	}
}

// execute acts in a fixed order. An error of one proposal stops no other, except a
// conflict, which restarts the reconciliation.
func (x *executor) execute(ctx context.Context) error {
	proposals := x.plan.Proposals

	if err := x.pushProposals(ctx, func(p propose.Proposal) bool { return p.Step == propose.StepPush }); err != nil {
		return err
	}

	// Then the pull requests, in the order of the plan.
	var pulls []propose.Proposal
	for _, p := range proposals {
		if p.Step != propose.StepPush {
			pulls = append(pulls, p)
		}
	}
	for i, p := range pulls {
		effect := Effect{Proposal: p, Action: ActionNone, Err: x.o.skipReason(p)}
		if effect.Err == nil {
			effect = x.carryOut(ctx, effect)
		}
		x.progress(i+1, len(pulls))
		if err := x.record(ctx, effect); err != nil {
			return err
		}
	}

	// Then cleanup. A branch that cannot be deleted is found again next time.
	for _, branch := range unusedBranches(x.o, Plan{Decisions: x.plan.Decisions, Proposals: proposals}, x.r.Objects, x.r.By) {
		if x.o.failures.Skipped[branch] != nil {
			continue
		}
		if err := x.push(ctx, repo.Update{Branch: branch, Old: x.o.Refs.Branches[branch]}); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}

	// Then what others see: the health of what landed, the status of their pull requests,
	// replies to commands, and the status of a config that was broken.
	if err := x.mirrorHealth(ctx); err != nil {
		return err
	}
	if err := x.setForeignStatuses(ctx); err != nil {
		return err
	}
	if err := x.replyToCommands(ctx); err != nil {
		return err
	}
	if err := (configStatus{x.r}).pass(ctx, x.o); err != nil {
		return err
	}
	branchWatch{x.r}.rememberHeads(ctx, x.o)
	return x.o.failures.AddOrStop(ctx, state.Branch, x.r.StateBranch().Remember(ctx, x.o.Branch))
}

// progress reports how many pull requests are done. Forges ask for time between writes, so
// that twenty new ones can take a minute.
func (x *executor) progress(done, total int) {
	if x.r.Progress != nil {
		x.r.Progress("updating pull requests", done, total)
	}
}

// pushProposals records in the state what is to be remembered, and pushes some proposals.
func (x *executor) pushProposals(ctx context.Context, pushed func(propose.Proposal) bool) error {
	// The state first: the effects depend on it.
	x.o = x.o.withChanges(x.plan.stateUpdates(x.o)...)
	if err := x.writeState(ctx); err != nil {
		return err
	}

	// Then the pushes, one chain of commits for each branch.
	proposals := x.plan.Proposals
	chains, branches := map[string][]*propose.Proposal{}, []string{}
	for i, p := range proposals {
		if !pushed(p) {
			continue
		}
		branch := x.o.Promotion.BranchOf(p.Environment)
		if chains[branch] == nil {
			branches = append(branches, branch)
		}
		chains[branch] = append(chains[branch], &proposals[i])
	}
	for _, branch := range branches {
		if err := x.pushChain(ctx, branch, chains[branch]); err != nil {
			return err
		}
	}
	return nil
}

// record adds effects to the report, and announces those that did something. Some errors
// end the reconciliation; what was done before is in the report all the same.
func (x *executor) record(ctx context.Context, effects ...Effect) (stop error) {
	var done []Effect
	for _, effect := range effects {
		err := x.o.failures.Stop(ctx, effect.Err)
		if stop = cmp.Or(stop, err); err != nil {
			effect.Err = nil // it is the error of the reconciliation
		}
		if effect = x.o.withPromotions(effect); effect.Action != ActionNone {
			done = append(done, effect)
			x.logBypassed(ctx, effect)
		}
		if err == nil || effect.Action != ActionNone {
			x.effects = append(x.effects, effect)
		}
	}
	if x.r.Acted != nil && len(done) > 0 {
		x.r.Acted(ctx, x.o.Promotion.Config, done)
	}
	return stop
}

// logBypassed logs what a promotion bypassed when it is proposed, and when it lands.
func (x *executor) logBypassed(ctx context.Context, effect Effect) {
	for _, d := range effect.Decisions {
		a := promotion.AttributionOf(d)
		if len(a.Bypassed) == 0 || effect.Action == ActionClosed || effect.Action == ActionUpdated {
			continue
		}
		x.r.Log.WarnContext(ctx, "conditions bypassed", slog.String("environment", d.Environment), slog.String("application", d.Application),
			slog.String("conditions", strings.Join(a.Bypassed, ", ")), slog.String("by", a.RequestedBy), slog.String("reason", a.Reason), slog.String("action", string(effect.Action)))
	}
}

// carryOut carries out one proposal that is not pushed.
func (x *executor) carryOut(ctx context.Context, effect Effect) (done Effect) {
	if effect.Step == propose.StepWait {
		return effect
	}
	ctx, end := x.r.trace(ctx, string(effect.Step))
	defer func() { end([]Effect{done}, done.Err) }()
	if open := effect.Open; open != nil {
		effect.Number, effect.URL, effect.Commit = open.Number, open.URL, open.Commit
	}
	switch {
	case effect.Step == propose.StepPropose:
		return x.propose(ctx, effect)
	case effect.Step == propose.StepKeep && effect.Open != nil:
		return x.keep(ctx, effect)
	case effect.Step == propose.StepClose && effect.Open != nil:
		return x.closePullRequest(ctx, effect)
	default:
		return effect
	}
}

// maxUnpushed is how many bytes of new objects are in memory before they are pushed. Each
// commit has new trees: 80 KB in a folder of 2,000 applications.
const maxUnpushed = 16 << 20

// pushChain makes one commit for each proposal of a branch and pushes them in their order:
// all together, or as many at a time as fit into maxUnpushed.
func (x *executor) pushChain(ctx context.Context, branch string, chain []*propose.Proposal) error {
	x.written[branch] = map[string]bool{}
	for len(chain) > 0 {
		effects, err := x.pushNext(ctx, branch, chain)
		chain = chain[len(effects):]
		if err != nil { // the rest would build on what the branch does not have
			for _, p := range chain {
				effects = append(effects, Effect{Proposal: *p, Action: ActionNone, Err: cmp.Or(x.o.skipReason(*p), err)})
			}
			chain = nil
		}
		if err := x.record(ctx, effects...); err != nil {
			return err
		}
	}
	return nil
}

// pushNext pushes the commits of the first proposals of a chain and returns their effects.
// The error is that of the push.
func (x *executor) pushNext(ctx context.Context, branch string, chain []*propose.Proposal) (effects []Effect, err error) {
	ctx, end := x.r.trace(ctx, string(propose.StepPush))
	defer func() { end(effects, nil) }()
	tip, written := x.o.Heads[branch], x.written[branch]
	before := x.r.Objects.Unpushed()
	for _, p := range chain {
		effect := Effect{Proposal: *p, Action: ActionNone, Err: x.o.skipReason(*p)}
		var files map[string][]byte
		if effect.Err == nil {
			files, effect.Err = x.rewriter().proposal(ctx, x.o.Trees[p.Environment.Name], *p, tip, written)
		}
		if effect.Err == nil && len(files) > 0 {
			if effect.Commit, effect.Err = x.commit(ctx, *p, files, tip); effect.Err == nil {
				tip, effect.Action = effect.Commit, ActionPushed
				for path := range files {
					written[path] = true
				}
			}
		}
		effects = append(effects, effect)
		if x.r.Objects.Unpushed()-before >= maxUnpushed {
			break
		}
	}
	if tip == x.o.Heads[branch] {
		return effects, nil
	}
	if err = x.push(ctx, repo.Update{Branch: branch, Old: x.o.Heads[branch], New: tip}); err == nil {
		x.landed = true
		x.r.historyReader(x.o.Promotion.Config).Remember(ctx, pushed(effects)...)
		describer{x.r}.describePushed(ctx, x.o, effects)
		return effects, nil
	}
	if err = fmt.Errorf("push to %s: %w", branch, err); fault.KindOf(err) == fault.Unauthorized {
		err = fmt.Errorf("%w (allow promoter to bypass the protection of %s, or use land: automerge or pr)", err, branch)
	}
	for i := range effects {
		if effects[i].Action == ActionPushed {
			effects[i].Action, effects[i].Commit, effects[i].Err = ActionNone, "", err
		}
	}
	return effects, err
}

// commit writes the commit of a proposal as it is to be pushed.
func (x *executor) commit(ctx context.Context, p propose.Proposal, files map[string][]byte, parent string) (string, error) {
	commit, err := x.rewriter().commit(p, files, parent)
	if err != nil {
		return "", err
	}
	if commit, err = x.r.Remote.Sign(ctx, commit); err != nil {
		return "", fmt.Errorf("sign a commit for %s: %w", p.Head, err)
	}
	return commit, nil
}

// pushed returns the commits of effects.
func pushed(effects []Effect) (commits []landing.Pushed) {
	for _, e := range effects {
		if e.Action == ActionPushed {
			commits = append(commits, landing.Pushed{Commit: e.Commit, Decisions: e.Decisions})
		}
	}
	return commits
}

// push pushes, and keeps where the branches are now.
func (x *executor) push(ctx context.Context, updates ...repo.Update) error {
	if err := x.r.Remote.Push(ctx, updates...); err != nil {
		return err // the caller names what it pushed
	}
	for _, update := range updates {
		if update.New == "" {
			delete(x.o.Heads, update.Branch)
			delete(x.o.Refs.Branches, update.Branch)
			continue
		}
		x.o.Heads[update.Branch], x.o.Refs.Branches[update.Branch] = update.New, update.New
	}
	return nil
}

// replan plans again with what is known about a pull request now, and returns its
// proposal.
func (x *executor) replan(open promotion.Open) (propose.Proposal, bool) {
	x.o.Promotion.Open[open.Head] = open
	x.plan = makePlan(x.o)
	for _, p := range x.plan.Proposals {
		if p.Head == open.Head {
			return p, true
		}
	}
	return propose.Proposal{}, false
}

// replyToCommands replies to the commands in comments, and records that it did.
func (x *executor) replyToCommands(ctx context.Context) error {
	reader := x.r.commentReader(x.r.historyReader(x.o.Promotion.Config))
	decided := comments.Decided{Proposals: x.plan.Proposals, Decisions: x.plan.Decisions}
	replied, err := reader.Reply(ctx, x.o.commented(), decided, x.o.failures)
	if err != nil || len(replied) == 0 {
		return err
	}
	x.o = x.o.withChanges(replied...)
	return x.writeState(ctx)
}

// writeState writes the recorded changes to the state branch, in one commit. It also seals
// what users added there, and removes what does not count.
func (x *executor) writeState(ctx context.Context) error {
	states := x.r.StateBranch()
	if len(x.o.Changes) == 0 && (x.o.Branch.Sealed || !states.IsSealed()) {
		return nil
	}
	message := "Record what a reconciliation observed"
	switch n := len(x.o.Messages); {
	case n == 1:
		message = x.o.Messages[0]
	case n > 1:
		message = fmt.Sprintf("Apply %d commands from comments\n\n%s", n, strings.Join(x.o.Messages, "\n\n"))
	}
	if len(x.o.Branch.Ignored) > 0 {
		message += "\n\nRemoved, because it had no seal: " + statebranch.IgnoredText(x.o.Branch.Ignored) + "."
	}
	after, _ := x.o.Branch.Counts.Apply(x.o.Changes...) // see Observation.withChanges
	update, written, err := states.Draft(ctx, x.o.Branch, after, message, states.IsSealed())
	x.o.Changes, x.o.Messages = nil, nil
	if err != nil || update.New == "" {
		return err
	}
	if err := x.push(ctx, update); err != nil {
		return fmt.Errorf("write %s: %w", state.Branch, err)
	}
	x.o.Branch = written
	return nil
}
