package app

import (
	"context"
	"log/slog"

	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/onboarding"
	"promoter/internal/queue"
	"promoter/internal/workspace"
)

// onboard offers a config file to the repositories that the present round found
// without one. It is work of its own, because to look into many of them takes long,
// and no lane waits for it.
func (s *service) onboard(ctx context.Context, _ queue.Item) (queue.Result, error) {
	in, release, err := s.rounds.use(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	err = in.onboarding.OfferAll(ctx, in.session, s.DryRun, func(r *connect.Repository, came *onboarding.Result, failed error) {
		s.tellOnboarding(ctx, s.Log.With(slog.String("repository", r.Name)), came, failed)
	})
	if note := in.onboarding.WaitingNote(); note != "" {
		s.Log.InfoContext(ctx, note)
	}
	return queue.Result{}, err
}

// onboardings is the work on the repositories that a round found without a config
// file; none where there are none.
func (r *round) onboardings() []queue.Trigger {
	if !r.onboarding.HasCandidates() {
		return nil
	}
	return []queue.Trigger{{Kind: kindOnboard, Key: everything}}
}

// onboardLane offers a config file to a listed repository in which a look found none.
func (s *service) onboardLane(ctx context.Context, in *round, r *connect.Repository, report engine.Report) {
	if in.onboarding == nil || report.Config != nil || report.Unusable == "" || r.SCM == nil {
		return
	}
	var came *onboarding.Result
	err := workspace.Use(ctx, in.session, r, workspace.Options{DryRun: s.DryRun, Freshness: s.store}, func(w *workspace.Workspace) (err error) {
		came, err = in.onboarding.Offer(ctx, w, report)
		return r.Advise(err)
	})
	if ctx.Err() == nil {
		s.tellOnboarding(ctx, s.logOf(r), came, err)
	}
}

// tellOnboarding writes a line of what came now; what is known of before has had one.
func (s *service) tellOnboarding(ctx context.Context, log *slog.Logger, came *onboarding.Result, err error) {
	switch {
	case err != nil:
		log.WarnContext(ctx, "a config file could not be offered", slog.Any("error", err))
	case came != nil && !came.Known && came.State != onboarding.Waiting:
		log.InfoContext(ctx, "onboarding", slog.String("state", string(came.State)), slog.String("reason", came.Reason),
			slog.Int("pull_request", came.Number), slog.String("url", came.URL), slog.String("commit", came.Commit))
	}
}
