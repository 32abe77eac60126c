package service

import (
	"context"
	"log/slog"

	"promoter/internal/connect"
	"promoter/internal/onboarding"
	"promoter/internal/queue"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// onboarder offers config files to repositories without one.
type onboarder struct {
	refresher *refresher
	store     *store.Store
	dryRun    bool
	log       *slog.Logger
}

// handle offers a config file to one of the repositories that the current refresh found
// without one. Each is work of its own: one that fails, or ends the process, delays no
// other, and reconciliations do not wait for them.
func (o onboarder) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	current, release, err := o.refresher.acquire(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	r, result, err := current.onboarding.OfferTo(ctx, current.session, item.Key, o.dryRun)
	if r == nil || onboarding.IsTransient(err) {
		return queue.Result{Forget: true}, err
	}
	logOnboarding(ctx, o.log.With(slog.String("repository", r.Name)), result, err)
	if note := current.onboarding.WaitingNote(); note != "" {
		o.log.InfoContext(ctx, note)
	}
	return queue.Result{Forget: true}, nil
}

// offer offers a config file to a listed repository in which the reconciliation found
// none.
func (o onboarder) offer(ctx context.Context, current *refresh, r *connect.Repository, report outcome.Report) {
	if current.onboarding == nil || report.Config != nil || report.Unusable == "" || r.Err != nil {
		return
	}
	var result *onboarding.Result
	err := workspace.Use(ctx, current.session, r, workspace.Options{DryRun: o.dryRun, Freshness: o.store},
		func(ctx context.Context, w *workspace.Workspace) (err error) {
			result, err = current.onboarding.Offer(ctx, w, report)
			return r.Advise(err)
		})
	if ctx.Err() == nil {
		logOnboarding(ctx, loggerOf(o.log, r), result, err)
	}
}

// logOnboarding logs a new result; a known one was logged before.
func logOnboarding(ctx context.Context, log *slog.Logger, result *onboarding.Result, err error) {
	switch {
	case err != nil:
		log.WarnContext(ctx, "could not open the onboarding pull request", slog.Any("error", err))
	case result != nil && !result.Known && result.State != onboarding.Waiting:
		log = log.With(slog.String("state", string(result.State)), slog.String("reason", result.Reason))
		log.InfoContext(ctx, "onboarding", slog.Int("pull_request", result.Number), slog.String("url", result.URL),
			slog.String("commit", result.Commit))
	}
}
