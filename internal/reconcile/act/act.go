// Package act carries out a plan: the state branch first, then the commits of each branch, then the pull requests,
// and last what others see. Every effect is conditional on what was observed: a push on the old commit, a merge on the head.
package act

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"promoter/internal/comments"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// Actor carries out the plans of one repository.
type Actor struct {
	Clients  observe.Clients
	Users    observe.Users
	Describe describe.Readers
	// Acted is called with the effects of an action as soon as it was done: all commits of
	// one push, or one pull request, and with the config by which it was decided. Nil: they are
	// only in the outcome.
	Acted func(ctx context.Context, c *config.Config, effects []outcome.Effect)
	Trace outcome.Tracer // nil: nothing is traced
	// Progress is called while pull requests are opened, updated, merged, and closed. Nil: not reported.
	Progress func(doing string, done, total int)
}

// Done is what was done.
type Done struct {
	Observation observe.Observation // with the results of our own effects
	Plan        plan.Plan           // as it was carried out
	Effects     []outcome.Effect
	Landed      bool // something reached an environment's branch
	Again       bool // something was written that may land at once
	merged      bool // a pull request was merged
}

// Refs returns the branches as they are after our pushes, so that the reconciliation that follows
// needs no listing of its own to verify them. A push of a user in between is found by the next event or
// poll, and each of our pushes is conditional on where its branch is. Nil: a pull request was merged, or is
// open and could be merged next, which needs a listing.
func (d Done) Refs() *repo.Refs {
	if d.merged || len(d.Observation.OurBranches()) > 0 {
		return nil
	}
	return &d.Observation.Refs
}

// CarryOut carries out a plan. It works on a copy of the observation. An error of one proposal stops no other, except
// a conflict, which restarts the reconciliation. What was done before an error is in the result.
func (a Actor) CarryOut(ctx context.Context, o observe.Observation, made plan.Plan, lastAttempt bool) (Done, error) {
	x := a.begin(o, made, lastAttempt)
	err := x.execute(ctx)
	return x.done(), err
}

// Push carries out some proposals of a plan as pushes to the branches of their environments, and nothing else.
func (a Actor) Push(ctx context.Context, o observe.Observation, made plan.Plan, pushed func(propose.Proposal) bool) (Done, error) {
	x := a.begin(o, made, true)
	err := x.pushProposals(ctx, pushed)
	return x.done(), err
}

// executor carries out one plan.
type executor struct {
	actor    Actor
	c        observe.Clients
	o        observe.Observation // with the results of our own effects
	plan     plan.Plan           // replaced where a push or a merge has to be decided again
	effects  []outcome.Effect
	failures *repo.Collector

	merged    map[string]string          // by branch, the commit of our last merge into it
	written   map[string]map[string]bool // by branch, the files that were pushed to it
	statusSet map[string]bool            // by commit, whether our status was set just now
	landed    bool                       // see Done
	again     bool
}

func (a Actor) begin(o observe.Observation, made plan.Plan, lastAttempt bool) *executor {
	return &executor{
		actor: a, c: a.Clients, o: o.Clone(), plan: made, failures: repo.Collect(o.Failures, lastAttempt), again: o.Refreshed,
		merged: map[string]string{}, written: map[string]map[string]bool{}, statusSet: map[string]bool{},
	}
}

func (x *executor) done() Done {
	x.o.Failures = x.failures.Failures()
	return Done{Observation: x.o, Plan: x.plan, Effects: x.effects, Landed: x.landed, Again: x.again, merged: len(x.merged) > 0}
}

// execute acts in a fixed order.
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
		effect := outcome.Effect{Proposal: p, Action: outcome.ActionNone, Err: x.skipReason(p)}
		if effect.Err == nil {
			effect = x.carryOut(ctx, effect)
		}
		x.progress(i+1, len(pulls))
		if err := x.record(ctx, effect); err != nil {
			return err
		}
	}

	// Then cleanup. A branch that cannot be deleted is found again next time.
	decided := plan.Plan{Decisions: x.plan.Decisions, Proposals: proposals}
	for _, branch := range decided.UnusedBranches(x.o.Refs.Branches, x.o.Promotion.Open, x.c.Objects, x.c.By) {
		if x.failures.Skipped(branch) != nil {
			continue
		}
		if err := x.push(ctx, repo.Update{Branch: branch, Old: x.o.Refs.Branches[branch]}); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}

	// Then what others see: the health of what landed, the status of their pull requests,
	// replies to commands, and the status of a config that was broken.
	if err := storeHealth(ctx, x.c, x.o.Health, x.failures); err != nil {
		return err
	}
	if err := x.setForeignStatuses(ctx); err != nil {
		return err
	}
	if err := x.replyToCommands(ctx); err != nil {
		return err
	}
	if err := passConfig(ctx, x.c, x.o, x.failures); err != nil {
		return err
	}
	rememberHeads(ctx, x.c, x.o)
	return x.failures.AddOrStop(ctx, state.Branch, x.c.StateBranch().Remember(ctx, x.o.Branch))
}

// skipReason returns why a proposal is not carried out; nil: it is.
func (x *executor) skipReason(p propose.Proposal) error {
	x.o.Failures = x.failures.Failures()
	return x.o.SkipReason(p)
}

// progress reports how many pull requests are done. Forges ask for time between writes, so
// that twenty new ones can take a minute.
func (x *executor) progress(done, total int) {
	if x.actor.Progress != nil {
		x.actor.Progress("updating pull requests", done, total)
	}
}

// pushProposals records in the state what is to be remembered, and pushes some proposals.
func (x *executor) pushProposals(ctx context.Context, pushed func(propose.Proposal) bool) error {
	// The state first: the effects depend on it.
	x.o = x.o.WithChanges(x.plan.StateChanges(x.o.Promotion, x.o.Now, x.skipReason)...)
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
func (x *executor) record(ctx context.Context, effects ...outcome.Effect) (stop error) {
	var done []outcome.Effect
	for _, effect := range effects {
		err := x.failures.Stop(ctx, effect.Err)
		if stop = cmp.Or(stop, err); err != nil {
			effect.Err = nil // it is the error of the reconciliation
		}
		if effect = effect.WithPromotions(x.o); effect.Action != outcome.ActionNone {
			done = append(done, effect)
			x.logBypassed(ctx, effect)
		}
		if err == nil || effect.Action != outcome.ActionNone {
			x.effects = append(x.effects, effect)
		}
	}
	if x.actor.Acted != nil && len(done) > 0 {
		x.actor.Acted(ctx, x.o.Promotion.Config, done)
	}
	return stop
}

// logBypassed logs what a promotion bypassed when it is proposed, and when it lands.
func (x *executor) logBypassed(ctx context.Context, effect outcome.Effect) {
	for _, d := range effect.Decisions {
		a := promotion.AttributionOf(d)
		if len(a.Bypassed) == 0 || effect.Action == outcome.ActionClosed || effect.Action == outcome.ActionUpdated {
			continue
		}
		x.c.Log.WarnContext(ctx, "conditions bypassed", slog.String("environment", d.Environment), slog.String("application", d.Application),
			slog.String("conditions", strings.Join(a.Bypassed, ", ")), slog.String("by", a.RequestedBy), slog.String("reason", a.Reason), slog.String("action", string(effect.Action)))
	}
}

// carryOut carries out one proposal that is not pushed.
func (x *executor) carryOut(ctx context.Context, effect outcome.Effect) (done outcome.Effect) {
	if effect.Step == propose.StepWait {
		return effect
	}
	ctx, end := x.actor.Trace.Begin(ctx, string(effect.Step))
	defer func() { end([]outcome.Effect{done}, done.Err) }()
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
				effects = append(effects, outcome.Effect{Proposal: *p, Action: outcome.ActionNone, Err: cmp.Or(x.skipReason(*p), err)})
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
func (x *executor) pushNext(ctx context.Context, branch string, chain []*propose.Proposal) (effects []outcome.Effect, err error) {
	ctx, end := x.actor.Trace.Begin(ctx, string(propose.StepPush))
	defer func() { end(effects, nil) }()
	tip, written := x.o.Heads[branch], x.written[branch]
	before := x.c.Objects.Unpushed()
	for _, p := range chain {
		effect := outcome.Effect{Proposal: *p, Action: outcome.ActionNone, Err: x.skipReason(*p)}
		var files map[string][]byte
		if effect.Err == nil {
			files, effect.Err = x.rewriter().proposal(ctx, x.o.Trees[p.Environment.Name], *p, tip, written)
		}
		if effect.Err == nil && len(files) > 0 {
			if effect.Commit, effect.Err = x.commit(ctx, *p, files, tip); effect.Err == nil {
				tip, effect.Action = effect.Commit, outcome.ActionPushed
				for path := range files {
					written[path] = true
				}
			}
		}
		effects = append(effects, effect)
		if x.c.Objects.Unpushed()-before >= maxUnpushed {
			break
		}
	}
	if tip == x.o.Heads[branch] {
		return effects, nil
	}
	if err = x.push(ctx, repo.Update{Branch: branch, Old: x.o.Heads[branch], New: tip}); err == nil {
		x.landed = true
		x.c.History(x.o.Promotion.Config).Remember(ctx, pushed(effects)...)
		x.describer().Pushed(ctx, x.o, effects)
		return effects, nil
	}
	if err = fmt.Errorf("push to %s: %w", branch, err); fault.KindOf(err) == fault.Unauthorized {
		err = fmt.Errorf("%w (allow promoter to bypass the protection of %s, or use land: automerge or pr)", err, branch)
	}
	for i := range effects {
		if effects[i].Action == outcome.ActionPushed {
			effects[i].Action, effects[i].Commit, effects[i].Err = outcome.ActionNone, "", err
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
	if commit, err = x.c.Remote.Sign(ctx, commit); err != nil {
		return "", fmt.Errorf("sign a commit for %s: %w", p.Head, err)
	}
	return commit, nil
}

func (x *executor) describer() describe.Describer {
	return describe.Describer{Clients: x.c, Users: x.actor.Users, Readers: x.actor.Describe}
}

// pushed returns the commits of effects.
func pushed(effects []outcome.Effect) (commits []landing.Pushed) {
	for _, e := range effects {
		if e.Action == outcome.ActionPushed {
			commits = append(commits, landing.Pushed{Commit: e.Commit, Decisions: e.Decisions})
		}
	}
	return commits
}

// push pushes, and keeps where the branches are now.
func (x *executor) push(ctx context.Context, updates ...repo.Update) error {
	if err := x.c.Remote.Push(ctx, updates...); err != nil {
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
	x.plan = x.o.Plan()
	for _, p := range x.plan.Proposals {
		if p.Head == open.Head {
			return p, true
		}
	}
	return propose.Proposal{}, false
}

// replyToCommands replies to the commands in comments, and records that it did.
func (x *executor) replyToCommands(ctx context.Context) error {
	reader := x.c.Comments(x.actor.Users, x.c.History(x.o.Promotion.Config))
	decided := comments.Decided{Proposals: x.plan.Proposals, Decisions: x.plan.Decisions}
	replied, err := reader.Reply(ctx, x.o.Commented(), decided, x.failures)
	if err != nil || len(replied) == 0 {
		return err
	}
	x.o = x.o.WithChanges(replied...)
	return x.writeState(ctx)
}

// writeState writes the recorded changes to the state branch, in one commit. It also seals
// what users added there, and removes what does not count.
func (x *executor) writeState(ctx context.Context) error {
	states := x.c.StateBranch()
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
	after, _ := x.o.Branch.Counts.Apply(x.o.Changes...) // see Observation.WithChanges
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
