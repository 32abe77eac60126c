package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/store"
	"promoter/internal/telemetry"
	"promoter/internal/workspace"
)

// The kinds of work of the service.
const (
	kindLane  = "repository" // a reconciliation of one repository; the key is that of the repository
	kindPoll  = "poll"       // everything is looked at
	kindSweep = "sweep"      // old deliveries are removed

	kindOnboard = "onboard" // a config file is offered to repositories without one
	kindArrival = "arrival" // a repository without a lane is looked for; the key is HOST/OWNER/NAME

	everything = "all"
)

// sweepEvery is how often what is kept is looked through.
const sweepEvery = time.Hour

// hintSlack is how much older than a round hints may be and still count: clocks of
// replicas differ.
const hintSlack = time.Minute

// look is one pass over one repository.
func (s *service) look(ctx context.Context, item queue.Item) (queue.Result, error) {
	in, release, err := s.rounds.use(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	known, ok := in.byKey[item.Key]
	if !ok {
		return s.unknown(ctx, item, in)
	}
	hinted, err := s.store.ImageEventsSince(ctx, in.began.Add(-hintSlack))
	if err != nil {
		return queue.Result{}, err
	}
	in.heed(hinted, s.now())
	begin, again := s.now(), known.Reopen(ctx)
	if again.SCM != nil && string(again.Key()) != item.Key { // another one has its name now
		return s.unknown(ctx, item, in)
	}
	back := lookedBack{}
	if back.cause, err = s.causeOf(ctx, item); err != nil {
		return queue.Result{}, err
	}
	report, failed := s.reconcile(ctx, in, again, &back)
	if ctx.Err() != nil {
		return queue.Result{}, errors.Join(failed, context.Cause(ctx))
	}
	result := queue.Result{Next: earlier(s.next(report), s.troubles.after(item.Key, report, s.now(), s.file.Poll))}
	added, err := s.remember(ctx, in, known, report, failed, back)
	if added {
		result.Next = s.now() // what was hinted at meanwhile found nobody
	}
	s.rounds.flush(in)
	took := s.now().Sub(begin)
	s.onboardLane(ctx, in, again, report)
	s.measure(item, report, failed, took)
	s.tell(ctx, known, report, failed, took)
	return result, errors.Join(failed, err)
}

// unknown is a key that the round does not have: the repository could not be opened,
// another replica has found it, or it is gone.
func (s *service) unknown(ctx context.Context, item queue.Item, in *round) (queue.Result, error) {
	lane, err := s.store.Repository(ctx, item.Key)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return queue.Result{}, err
	}
	if err := in.unopened(lane.Forge); err != nil {
		return queue.Result{}, fault.New(fault.Temporary, "it may be one that could not be opened, and is tried again with the next poll: %w", err)
	}
	if s.now().Sub(in.made) > betweenRounds {
		if err := s.rounds.renew(ctx, in.began); err != nil {
			return queue.Result{}, err
		}
		return queue.Result{Next: s.now()}, nil
	}
	s.troubles.after(item.Key, engine.Report{}, s.now(), s.file.Poll)
	if err := workspace.Remove(ctx, in.session, item.Key); err != nil { // who took it from us wants that
		return queue.Result{}, err
	}
	s.Log.InfoContext(ctx, "a repository is not worked on any more", slog.String("key", item.Key))
	return queue.Result{Forget: true}, s.store.DeleteRepository(ctx, item.Key)
}

func (s *service) reconcile(ctx context.Context, in *round, r *connect.Repository, back *lookedBack) (report engine.Report, err error) {
	options := workspace.Options{DryRun: s.DryRun, Log: s.logOf(r), Trace: s.followLook(ctx, r), Freshness: s.store}
	err = workspace.Use(ctx, in.session, r, options, func(w *workspace.Workspace) (err error) {
		report, err = w.Reconciler.Reconcile(ctx)
		s.landedIn(ctx, w, &report, back)
		return r.Advise(err)
	})
	return report, err
}

// logOf is for the lines about a repository: by its name for people, and by its key,
// which a rename does not change and by which the lines of deliveries and of the queue
// name it.
func (s *service) logOf(r *connect.Repository) *slog.Logger {
	return s.Log.With(slog.String("repository", r.Name), slog.String("key", string(r.Key())))
}

// tell writes what came of a look: a line for it, and one for each effect.
func (s *service) tell(ctx context.Context, r *connect.Repository, report engine.Report, err error, took time.Duration) {
	log := s.logOf(r)
	telemetry.Set(ctx, slog.String(traceResult, resultOf(report, err)))
	for _, done := range report.Effects {
		switch {
		case done.Err != nil:
			log.WarnContext(ctx, "action failed", append(aboutAct(done), slog.String("act", string(done.Action)), slog.Any("error", done.Err))...)
		case done.Action != engine.ActionNone:
			log.InfoContext(ctx, string(done.Action), aboutAct(done)...)
		}
	}
	for _, trouble := range report.Errors {
		log.WarnContext(ctx, "reconcile error", slog.String("what", trouble.What), slog.Any("error", trouble.Err))
	}
	if err != nil {
		return // the queue has a line for it
	}
	if report.Unusable != "" {
		log = log.With(slog.String("state", report.Unusable))
	}
	log.InfoContext(ctx, "reconciled", slog.Int("targets", len(report.Decisions)), slog.Duration("took", took))
}

// remember keeps how a look ended, all in one transaction. It says whether the repository
// follows something new.
func (s *service) remember(ctx context.Context, in *round, r *connect.Repository, report engine.Report, failed error, back lookedBack) (added bool, err error) {
	info := r.SCM.Info()
	lane := store.Repository{
		Key: string(info.Key), Forge: r.Forge.Config.Name, Host: hostOfRepository(info), Name: cmp.Or(report.Name, info.Name),
		Failure: failureOf(report, failed),
	}
	past, written := s.past(lane, report, back)
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		if added, err = s.setConfig(ctx, tx, lane.Key, in, report.Config); err != nil {
			return err
		}
		return s.store.RecordReconciliation(ctx, tx, lane, past)
	})
	if err != nil {
		return false, err
	}
	written()
	return added, nil
}

// setConfig keeps what a repository follows, by which hints find it, and the schedules
// it is looked at for, from now on. It says whether it follows something new. Without a
// config both stay as they are.
func (s *service) setConfig(ctx context.Context, tx *database.Tx, lane string, in *round, c *config.Config) (added bool, err error) {
	if c == nil {
		return false, nil
	}
	if added, err = s.store.SetSubscriptions(ctx, tx, lane, in.follows(c)); err != nil {
		return false, err
	}
	return added, s.setSchedules(ctx, tx, lane, schedulesOf(s.server, c))
}

// failureOf is why a look failed, in one line.
func failureOf(report engine.Report, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case report.Unusable != "":
		return report.Unusable
	case len(report.Errors) > 0:
		return report.Errors[0].What + ": " + report.Errors[0].Err.Error()
	}
	return ""
}

// follows lists what a config follows.
func (r *round) follows(c *config.Config) []store.Subscription {
	var all []store.Subscription
	for _, component := range c.Components {
		all = append(all, store.Subscription{Image: component.Pattern})
		if source, ok := c.Policy(component.Name).Release(); ok {
			if host, name, ok := r.session.SourceHost(source); ok {
				all = append(all, store.Subscription{Release: store.Release{Host: host, Name: name}})
			}
		}
	}
	return all
}

// next is when something in the repository changes by itself: a window opens, a soak
// ends. Zero: nothing is known to.
func (s *service) next(report engine.Report) time.Time {
	var next time.Time
	for _, decision := range report.Decisions {
		next = earlier(next, s.ahead(decision.Reason.Until))
	}
	for _, done := range report.Effects {
		next = earlier(next, s.ahead(done.Reason.Until))
	}
	return next
}

// ahead leaves out a time that is over.
func (s *service) ahead(at time.Time) time.Time {
	if at.After(s.now()) {
		return at
	}
	return time.Time{}
}

// poll makes a new round and has everything looked at. It comes again after the
// interval of the file, or sooner if something could not be opened that may be soon.
func (s *service) poll(ctx context.Context, _ queue.Item) (queue.Result, error) {
	age, soonest := s.rounds.age(), min(betweenRounds, s.file.Poll/2)
	switch {
	case age == 0 || age >= soonest:
		if err := s.rounds.renew(ctx, s.now()); err != nil {
			return queue.Result{}, err
		}
	case s.rounds.started.Load():
		if due, err := s.isPollDue(ctx); err != nil || !due { // many hints that repositories come or go
			return queue.Result{Next: s.now().Add(soonest - age)}, err
		}
	}
	in, release, err := s.rounds.use(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	next, err := s.firePoll(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	hints := hintsOf(slices.Collect(maps.Keys(in.byKey)))
	if err := s.queue.Trigger(ctx, append(hints, in.onboardings()...)...); err != nil {
		return queue.Result{}, err
	}
	next = earlier(next, s.reopens.after(in, s.now(), soonest, s.file.Poll))
	return queue.Result{Next: next}, s.forgetOthers(ctx, in)
}

// forgetOthers has lanes looked at that are not worked on any more: the look removes
// them, with the work that waits for them. A repository that only could not be opened
// this time keeps its lane.
func (s *service) forgetOthers(ctx context.Context, in *round) error {
	known, err := s.store.Repositories(ctx)
	if err != nil {
		return err
	}
	var gone []queue.Trigger
	for _, lane := range known {
		if _, ok := in.byKey[lane.Key]; !ok && in.unopened(lane.Forge) == nil {
			gone = append(gone, queue.Trigger{Kind: kindLane, Key: lane.Key})
		}
	}
	return s.queue.Trigger(ctx, gone...)
}
