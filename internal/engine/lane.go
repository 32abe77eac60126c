package engine

import (
	"context"
	"log/slog"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// ConfigFile is the config file of a repository, read from the default branch.
const ConfigFile = ".promoter.yaml"

// attempts is how often a pass begins anew because somebody else was faster.
const attempts = 5

// Reconciler is one repository with all that a pass needs. Passes of one lane never
// overlap in a process; several processes may race, and the repository decides.
type Reconciler struct {
	Remote     Remote
	Objects    Objects
	Files      Files
	Registries Registries
	Repository scm.Repository
	Compare    scm.Comparer // nil: no commits are shown
	Limits     promotion.Limits
	By         Signature // of our commits; When is set by each commit
	Now        func() time.Time
	// Pause waits before a pass begins anew, with jitter. Nil: no wait.
	Pause  func(ctx context.Context, attempt int) error
	Log    *slog.Logger
	DryRun bool // observe and plan, write nothing
	// Trace is told of the parts of a look; nil: nobody is.
	Trace Tracer
	// Permissions says who may give commands in comments; nil: nobody, and none is read.
	Permissions Permissions
	// Refresh has registries asked again about what a config follows; nil: they
	// always are.
	Refresh func(c *config.Config)
}

// Reconcile runs one pass, and another one at once where landing something lets
// something follow, so that a second run in a row has nothing to do. The report
// holds what failed in a part; the error is about the whole repository.
func (l *Reconciler) Reconcile(ctx context.Context) (Report, error) {
	var before Report
	for round := 0; ; round++ {
		report, more, err := l.settle(ctx)
		report = report.after(before)
		if before = report; err != nil || !more || round == rounds {
			return report, err
		}
	}
}

// rounds bounds how often something may follow: more than any config has
// environments in a row.
const rounds = 50

// settle runs a pass and begins anew when a race is lost, a few times.
func (l *Reconciler) settle(ctx context.Context) (Report, bool, error) {
	var before Report
	for attempt := 1; ; attempt++ {
		report, more, err := l.followPass(ctx, attempt == attempts)
		report = report.after(before)
		before = report
		if fault.KindOf(err) != fault.Conflict || attempt == attempts {
			return report, more, err
		}
		l.Log.DebugContext(ctx, "begin anew: somebody else was faster", slog.Any("error", err))
		if err := l.pause(ctx, attempt); err != nil {
			return report, false, err
		}
	}
}

func (l *Reconciler) pause(ctx context.Context, attempt int) error {
	if l.Pause == nil {
		return ctx.Err()
	}
	return l.Pause(ctx, attempt)
}

// pass observes, plans and, unless it only looks, acts. It says whether something
// may follow at once.
func (l *Reconciler) pass(ctx context.Context, last bool) (Report, bool, error) {
	v, err := l.followView(ctx, last)
	if err != nil || v.report.Unusable != "" {
		return v.report, false, err
	}
	if l.DryRun {
		v.list()
		v.tellEnd()
		return v.report, false, nil
	}
	err = v.act(ctx)
	v.tellEnd()
	if v.landed && fault.KindOf(err) == fault.Conflict {
		err = nil // that was no vain attempt
	}
	return v.report, v.landed || v.again, err
}

// Observe looks and decides, and changes nothing: what explain shows.
func (l *Reconciler) Observe(ctx context.Context) (Report, error) {
	v, err := l.deafened().view(ctx, true)
	if err != nil || v.report.Unusable != "" {
		return v.report, err
	}
	v.list()
	return v.report, nil
}

// deafened is the lane for who only looks: it hears no commands.
func (l *Reconciler) deafened() *Reconciler {
	deaf := *l
	deaf.Permissions = nil
	return &deaf
}

// view is what one pass sees. Everything in it was read in this pass.
type view struct {
	*Reconciler
	now      time.Time
	refs     Refs
	heads    map[string]string // the fetched branches
	open     []scm.PullRequest // of everybody
	trees    map[string]Tree   // by environment
	observed promotion.Observation
	memory   memory
	report   Report
	past     map[string]Tree                     // by environment and commit, what was read of history
	landings map[promotion.Target]map[string]int // how often each snapshot landed, by id
	unread   map[string]error                    // by branch, why nothing is done about it
	merged   map[string]string                   // where our own merges put a branch
	touched  map[string]map[string]bool          // by branch, the files that were pushed to it
	told     map[string]bool                     // the troubles that were noted
	last     bool                                // no pass follows when this one loses a race
	landed   bool                                // something reached an environment's branch
	again    bool                                // something was written that may land at once
	planned  []pullrequest.Proposal              // what was decided last
}

// view observes in the order in which one thing tells what to ask next. A
// repository in which nothing can be done is a state of the report.
func (l *Reconciler) view(ctx context.Context, last bool) (*view, error) {
	v := &view{
		Reconciler: l, now: l.Now(), last: last, memory: memory{statuses: map[string]scm.Check{}, set: map[string]bool{}}, unread: map[string]error{}, past: map[string]Tree{},
		merged: map[string]string{}, touched: map[string]map[string]bool{}, told: map[string]bool{},
	}
	info := l.Repository.Info()
	v.report.Repository, v.report.Name = info.Key, info.Name
	v.observed.PushOnly = !l.Repository.Features().PullRequests
	v.observed.Limits = l.Limits
	for _, look := range []func(context.Context) error{
		v.lookAtRepository, v.lookAtPullRequests, v.lookAtBranches, v.lookAtState, v.lookAtFiles,
		v.lookAtVersions, v.lookAtProposals, v.lookAtComments, v.lookBack, v.lookAtAnswers, v.lookAtRules,
	} {
		if err := look(ctx); err != nil || v.report.Unusable != "" {
			return v, err
		}
	}
	return v, nil
}

// decide plans from what is observed so far.
func (v *view) decide() []pullrequest.Proposal {
	v.report.Decisions = promotion.Plan(v.observed, v.now)
	v.planned = pullrequest.Plan(v.observed, v.report.Decisions, v.now)
	return v.planned
}

// list reports the proposals as they would be carried out.
func (v *view) list() {
	for _, proposal := range v.decide() {
		v.done(Effect{Proposal: proposal, Action: ActionNone, Err: v.unreadOf(proposal)})
	}
}

// done reports a proposal with the ids of its promotions.
func (v *view) done(d Effect) {
	for _, decision := range d.Decisions {
		id := decision.Snapshot.ID()
		d.Promotions = append(d.Promotions, promotion.ID(v.report.Repository, decision.Target, id, 1+v.landings[decision.Target][id]))
	}
	v.report.Effects = append(v.report.Effects, d)
}

// trouble notes that a part of the repository failed; the rest goes on. Several
// questions that fail in the same way are told once.
func (v *view) trouble(what string, err error) {
	words := what + ": " + err.Error()
	if v.told[words] {
		return
	}
	v.told[words] = true
	v.report.Errors = append(v.report.Errors, PartialError{What: what, Err: err})
}
