// Package engine reconciles one repository: it observes, plans, and acts.
//
// A reconciliation is level-triggered. It reads everything that a decision depends
// on again: files and trailers from Git, user decisions from promoter/_state,
// versions from registries, pull requests from the forge. Whatever was lost,
// duplicated or interrupted before, the next reconciliation reaches the same
// result, and a second one in a row writes nothing. Every effect is conditional on
// what was observed: a push on the old commit, a merge on the head. A conflict
// restarts the reconciliation.
//
// The three phases pass values. Reconciler.observe calls one reader after the other
// and returns an Observation; makePlan turns it into a Plan without I/O; act carries
// out the Plan on a copy of the Observation and returns a Report. This file is the
// whole story; observe_*.go and act*.go are its chapters.
//
// The package knows no adapter. It uses Git, files, registries and the forge through small
// interfaces, here and in the package repo. What landed is read by the package landing, the
// state branch by statebranch, and commands of users by comments.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"promoter/internal/comments"
	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/propose"
	"promoter/internal/promotion/record"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

const (
	// maxAttempts is how often a reconciliation starts before a conflict is an error.
	maxAttempts = 5
	// maxFollowing is the default of MaxFollowing: more than any config has environments in
	// a chain.
	maxFollowing = 50
)

// Reconciler reconciles one repository. Its fields are dependencies and settings.
// Reconciliations of one Reconciler never overlap; those of several processes may
// race, and the repository decides who wins.
type Reconciler struct {
	Remote     repo.Remote
	Objects    repo.Objects
	Files      repo.Files
	Registries Registries
	Repository scm.Repository
	Sources    Sources // nil: pull requests list no commits
	// Renderer renders manifests, where the config asks for it. Nil: the server does not allow it.
	Renderer Renderer
	Limits   promotion.Limits
	// Verify returns what signatures must prove about an image, whatever the config requires.
	Verify func(image.Repository) []trust.Requirement
	By     repo.Signature // of our commits; When is set for each commit
	Now    func() time.Time
	// Pause waits before a restart, with jitter. Nil: no wait.
	Pause  func(ctx context.Context, attempt int) error
	Log    *slog.Logger
	DryRun bool // observe and plan, write nothing
	// Reads is how many requests that only read are sent to the forge at the same time. Zero:
	// one after the other.
	Reads int
	// OnCopy is set if Remote, Repository, and all memories are copies: what a dry run
	// decides is then carried out on them.
	OnCopy bool
	Trace  Tracer // nil: nothing is traced
	// Acted is called with the effects of an action as soon as it was done: all commits of
	// one push, or one pull request, and with the config by which it was decided. Nil: they are
	// only in the report.
	Acted func(ctx context.Context, c *config.Config, effects []Effect)
	// Progress is called while registries are queried and pull requests are opened, updated,
	// merged, and closed, from one goroutine at a time. Nil: not reported.
	Progress func(doing string, done, total int)
	// Memory remembers the branches. Nil: one that was deleted or moved back is not noticed.
	Memory BranchMemory
	// Landings remembers what is proven about landings. Nil: it is read again each time.
	Landings landing.Memory
	// Evidence has what sources reported about health. Nil: only what the forge has is known,
	// which is statuses, checks, and deployments.
	Evidence Evidence
	// AssumedHealth is the health that is assumed for what is in a target, in a simulation.
	// Nil: only what is reported counts.
	AssumedHealth func(promotion.Target) (health.Status, bool)
	// Seals decide what on the state branch counts.
	Seals statebranch.Seals
	// Permissions decides which users may give commands in comments. Nil: comments
	// are not read.
	Permissions comments.Permissions
	// Bypasses decides which users may bypass conditions and gates. Nil: none.
	Bypasses comments.Bypasses
	// CommentEvents verifies commands in comments. Nil: no webhook reports comments.
	CommentEvents comments.CommentEvents
	// MaxFollowing bounds the cycles that follow landings, so that steady releases do not
	// delay the end; the report has Again then. Zero: 50.
	MaxFollowing int
	// Refresh invalidates what is cached about the components of a config. Nil:
	// nothing is cached.
	Refresh func(c *config.Config)

	// Keeper keeps the last observation from one reconciliation to the next. Nil: each one starts with a
	// full observation.
	Keeper Keeper

	asked func(promotion.Target) bool // see Explain
}

// Reconcile observes, plans and acts. It restarts on a conflict, and reconciles again
// after something landed or may land now, so that a second run in a row has nothing
// to do. The report contains partial errors; the returned error is about the whole
// repository.
//
// A dry run rehearses all of this on an overlay of the repository: see rehearsal.
func (r *Reconciler) Reconcile(ctx context.Context) (Report, error) {
	once, after := r.reconcileOnce, Report.after
	if r.DryRun && !r.OnCopy {
		once, after = r.rehearsal().once, Report.afterRehearsal
	}
	start, err := r.loadKept(ctx)
	if err != nil {
		return Report{}, err
	}
	var report Report
	for following, attempt := 0, 1; ; {
		start.last = attempt == maxAttempts
		var next Report
		var again bool
		next, start, again, err = once(ctx, start)
		report = after(next, report)
		if report.differs() { // until the next reconciliation, which is a full one
			start = basis{}
		}
		r.keep(start.kept)
		switch {
		case fault.KindOf(err) == fault.Conflict && attempt < maxAttempts:
			r.Log.DebugContext(ctx, "restarting after a conflict", slog.Any("error", err))
			if err := r.pause(ctx, attempt); err != nil {
				return report, err
			}
			attempt++
		case err == nil && again && following < cmp.Or(r.MaxFollowing, maxFollowing):
			following, attempt = following+1, 1
		default:
			report.Again = err == nil && again
			return report, err
		}
	}
}

// loadKept returns what the first attempt starts from.
func (r *Reconciler) loadKept(ctx context.Context) (basis, error) {
	if r.Keeper == nil {
		return basis{}, nil
	}
	kept, changed, err := r.Keeper.Load(ctx)
	return basis{kept: kept, changed: changed}, err
}

func (r *Reconciler) keep(kept *Kept) {
	if r.Keeper != nil {
		r.Keeper.Keep(kept)
	}
}

// reconcileOnce returns what the next one can start from, and reports with again that it should
// follow at once.
func (r *Reconciler) reconcileOnce(ctx context.Context, start basis) (report Report, next basis, again bool, err error) {
	ctx, end := r.trace(ctx, "attempt")
	defer func() { end(nil, err) }()
	o, err := r.observe(ctx, start)
	if err == nil && o.Unusable != "" {
		err = configStatus{r}.fail(ctx, o)
	}
	if err != nil || o.Unusable != "" {
		return o.report(), basis{}, false, err
	}
	_, endPlan := r.trace(ctx, "plan")
	plan := makePlan(o)
	endPlan(nil, nil)
	if o.kept != nil {
		if o, plan, err = r.check(ctx, o, plan, start); err != nil || o.Unusable != "" {
			return o.report(), basis{}, false, err
		}
	}
	report, refs, again, err := r.act(ctx, o, plan)
	if err == nil {
		next = basis{kept: o.keep(plan, report), refs: refs}
	}
	return report, next, again, err
}

// Observe observes and plans, and changes nothing. The report contains the proposals
// as Reconcile would carry them out. With a Keeper, it reuses decisions as Reconcile would.
func (r *Reconciler) Observe(ctx context.Context) (Report, error) {
	start, err := r.loadKept(ctx)
	if err != nil {
		return Report{}, err
	}
	start.last = true
	o, err := r.withoutCommands().observe(ctx, start)
	if err != nil || o.Unusable != "" {
		return o.report(), err
	}
	return o.preview(makePlan(o)), nil
}

// observe reads everything that decisions depend on, in the order in which one answer
// leads to the next question. A part that cannot be read is an error in the
// Observation, and keeps what depends on it out of the plan.
func (r *Reconciler) observe(ctx context.Context, start basis) (o Observation, err error) {
	ctx, end := r.trace(ctx, "observe")
	defer func() { end(nil, err) }()

	// The repository: branches, open pull requests, config, fetched commits.
	if o, err = r.observeRefs(ctx, start); err != nil || o.Unusable != "" {
		return o, err
	}
	if !o.Promotion.PushOnly {
		if o.Open, err = r.Repository.PullRequests().Open(ctx); err != nil {
			return o, fmt.Errorf("list the open pull requests: %w", err)
		}
	}
	if o, err = r.observeBranches(ctx, o, start); err != nil || o.Unusable != "" {
		return o, err
	}
	history := r.historyReader(o.Promotion.Config)

	// What exists: references in files, and the versions that registries have.
	if o.Trees, o.Promotion.Targets, err = observeFiles(ctx, r.Files, o); err != nil {
		return o, err
	}
	if o, err = (branchWatch{r}).rejectMovedBack(ctx, history, o); err != nil {
		return o, err
	}

	// What has to be decided about. From here on, an incremental reconciliation reads what the
	// touched applications need.
	if o = r.observeVersions(ctx, o.touchedBy(start, history)); ctx.Err() != nil {
		return o, ctx.Err()
	}

	// What users and checks say: on our pull requests, in comments, by reverts and by
	// closing pull requests.
	if o.Promotion.Open, err = r.pullRequestReader().all(ctx, o, r.Reads); err != nil {
		return o, err
	}
	if !r.DryRun {
		commands, err := r.commentReader(history).Read(ctx, o.commented(), o.failures)
		if o = o.withCommands(commands); err != nil {
			return o, err
		}
		if o.kept != nil && (len(commands.Changes) > 0 || commands.Refreshed) {
			// They may be about any target.
			o.kept, o.Promotion.Applications = nil, nil
			if o = r.observeVersions(ctx, o); ctx.Err() != nil {
				return o, ctx.Err()
			}
		}
	}
	if o, err = r.readReports(ctx, o); err != nil {
		return o, err
	}
	landed, err := history.Read(ctx, o.observed(), o.failures)
	if err != nil {
		return o, err
	}
	if o.kept != nil {
		landed.Attempts = o.kept.attemptsWith(landed.Attempts, o.Promotion.Applications)
	}
	o.Attempts, o.Promotion.Landings, o.Promotion.Reverted, o.Promotion.Falsified = landed.Attempts, landed.Landings, landed.Reverted, landed.Falsified
	o.Promotion.Restored, o.Health = landed.Restored, landed.Health
	o = o.withChanges(landed.Changes...)
	if o, err = recordFailures(ctx, history, o); err != nil {
		return o, err
	}
	if len(o.Attempts) > 0 { // earlier snapshots lead to lookups of their own
		o = o.withFacts(ctx, r.Registries)
	}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	o.Promotion.Bypasses = r.observeBypasses(ctx, o)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if o.Promotion.Targets, err = observeRefusedEdits(ctx, o); err != nil {
		return o, err
	}
	o, plan, err := observeUserDecisions(ctx, history, o, r.Reads)
	if err != nil {
		return o, err
	}
	if o.Promotion.Protected, err = observeRules(ctx, r.Repository, o, plan); err != nil {
		return o, err
	}
	return o, observeHeads(ctx, r.Repository, o, plan, r.Reads)
}

// Plan is what a reconciliation decided.
type Plan struct {
	Decisions []promotion.Decision // by target
	Proposals []propose.Proposal   // by branch or pull request, in the order to act

	made     []promotion.Decision // of the decisions, those that were not kept
	volatile map[string]bool      // see decide.PlanVolatile
}

// makePlan decides without I/O.
func makePlan(o Observation) Plan {
	made, volatile := decide.PlanVolatile(o.Promotion, o.Now)
	decisions := made
	if o.kept != nil {
		decisions = o.kept.with(made, o.Promotion)
	}
	return Plan{Decisions: decisions, Proposals: propose.Plan(o.Promotion, decisions, o.Now), made: made, volatile: volatile}
}

// stateUpdates returns what is recorded before a plan is carried out: what the planner
// wants to remember, and the pull requests that we are about to close.
func (p Plan) stateUpdates(o Observation) []state.Change {
	changes := record.Changes(o.Promotion, p.made, o.Now)
	for _, proposal := range p.Proposals {
		// A proposal that is skipped is not closed now: a later close is a user's.
		if proposal.Step != propose.StepClose || proposal.Open == nil || o.skipReason(proposal) != nil {
			continue
		}
		if target, ours := promotion.ParseHead(proposal.Head); ours {
			changes = append(changes, state.Closed(state.Target(target), proposal.Open.Number, proposal.Reason.Message, o.Now))
		}
	}
	return changes
}

func (r *Reconciler) pause(ctx context.Context, attempt int) error {
	if r.Pause == nil {
		return ctx.Err()
	}
	return r.Pause(ctx, attempt)
}

// withoutCommands returns a Reconciler that reads no commands in comments.
func (r *Reconciler) withoutCommands() *Reconciler {
	quiet := *r
	quiet.Permissions = nil
	return &quiet
}

// signature is that of our commits, now.
func (r *Reconciler) signature() repo.Signature {
	by := r.By
	by.When = r.Now()
	return by
}

// historyReader reads what landed in the targets of a config.
func (r *Reconciler) historyReader(c *config.Config) landing.Reader {
	return landing.Reader{
		Remote: r.Remote, Objects: r.Objects, Repository: r.Repository, By: r.By, Past: landing.NewPastFiles(r.Files, c), Memory: r.Landings, Log: r.Log, States: r.Evidence,
		Assumed: r.AssumedHealth,
	}
}

// commentReader reads, applies, and replies to the commands in comments.
func (r *Reconciler) commentReader(history landing.Reader) comments.Reader {
	return comments.Reader{
		Repository: r.Repository, Commits: r.Objects, History: history,
		Permissions: r.Permissions, Bypasses: r.Bypasses, Events: r.CommentEvents, Refresh: r.Refresh, Now: r.Now, Log: r.Log,
	}
}

// StateBranch reads and writes the state branch.
func (r *Reconciler) StateBranch() statebranch.Branch {
	return statebranch.Branch{Remote: r.Remote, Objects: r.Objects, Seals: r.Seals, By: r.By, Now: r.Now, Pause: r.pause}
}
