package service

import (
	"context"
	"log/slog"
	"time"

	"promoter/internal/connect"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/queue"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/telemetry"
)

// The results of a reconciliation, in metrics and spans.
const (
	resultSucceeded = "succeeded"
	resultPartial   = "partial"  // a part failed
	resultUnusable  = "unusable" // nothing can be done, for instance because the config is broken
	resultFailed    = "failed"
)

// actionFailed replaces the name of an action that failed.
const actionFailed = "failed"

// reporter counts and logs what reconciliations do.
type reporter struct {
	log     *slog.Logger
	metrics *telemetry.Metrics
	now     func() time.Time
}

// loggerOf returns the logger for lines about a repository: with its name for users, and
// with its key, which a rename does not change and which the lines of webhooks and of the
// queue contain.
func loggerOf(log *slog.Logger, r *connect.Repository) *slog.Logger {
	return log.With(slog.String("repository", r.Name), slog.String("key", string(r.Key())))
}

// acted counts and logs actions when they happen.
func (r reporter) acted(ctx context.Context, repository *connect.Repository, item queue.Item, effects []outcome.Effect) {
	log := loggerOf(r.log, repository)
	for _, effect := range effects {
		r.metrics.Action(string(effect.Action))
		if !item.TriggeredAt.IsZero() {
			r.metrics.EventToAction(string(effect.Action), r.now().Sub(item.TriggeredAt))
		}
		log.InfoContext(ctx, string(effect.Action), logAttrs(effect)...)
	}
}

// write counts and logs the outcome of a reconciliation: a line for it, and one for each failure.
func (r reporter) write(ctx context.Context, repository *connect.Repository, report outcome.Report, err error, took time.Duration) {
	log, result := loggerOf(r.log, repository), resultOf(report, err)
	telemetry.Set(ctx, slog.String("promoter.result", result))
	r.metrics.Reconciled(result, took)
	for _, effect := range report.Effects {
		if effect.Err != nil {
			r.metrics.Action(actionFailed)
			log.WarnContext(ctx, "action failed",
				append(logAttrs(effect), slog.String("step", string(effect.Step)), slog.Any("error", effect.Err))...)
		}
	}
	for _, partial := range report.Errors {
		log.WarnContext(ctx, "reconcile error", slog.String("what", partial.What), slog.Any("error", partial.Err))
	}
	if err != nil {
		return // the queue logs it
	}
	if report.Unusable != "" {
		log.WarnContext(ctx, "repository unusable", slog.String("state", report.Unusable))
	}
	queued := 0
	for _, decision := range report.Decisions {
		if decision.Reason.Rule == promotion.RuleLimit {
			queued++
		}
	}
	if queued > 0 {
		log = log.With(slog.Int("queued", queued))
	}
	if report.Touched != nil {
		log = log.With(slog.Int("touched", len(report.Touched)))
	}
	log.InfoContext(ctx, "reconciled", slog.Int("targets", len(report.Decisions)), slog.Duration("took", took))
}

// resultOf returns the result of a reconciliation.
func resultOf(report outcome.Report, failed error) string {
	switch {
	case failed != nil:
		return resultFailed
	case report.Unusable != "":
		return resultUnusable
	case failureOf(report, nil) != "":
		return resultPartial
	}
	return resultSucceeded
}

// logAttrs are the attributes of the log line about an effect. A push has no pull
// request, and a close no commit.
func logAttrs(effect outcome.Effect) []any {
	attrs := []any{slog.String("environment", effect.Environment.Name), slog.Any("applications", applicationsOf(effect))}
	if effect.Number != 0 {
		attrs = append(attrs, slog.Int("pull_request", effect.Number))
	}
	if effect.Commit != "" {
		attrs = append(attrs, slog.String("commit", effect.Commit))
	}
	if effect.URL != "" {
		attrs = append(attrs, slog.String("url", effect.URL))
	}
	if versions := versionsOf(effect); len(versions) > 0 {
		attrs = append(attrs, slog.Any("versions", versions))
	}
	return append(attrs, slog.String("reason", effect.Reason.String()))
}

// maxListed is how many repositories a line about a webhook lists, and how many
// applications one about an effect.
const maxListed = 20

func first(texts []string) []string { return texts[:min(len(texts), maxListed)] }

// versionsOf returns the versions that an effect changed or would change, such as
// "web 1.4.1 -> 1.4.2", with the application if it has several.
func versionsOf(effect outcome.Effect) (versions []string) {
	if effect.Step == propose.StepClose || effect.Step == propose.StepKeep {
		return nil // the pull request may have others
	}
	for _, decision := range effect.Decisions {
		for _, move := range decision.Moves {
			text := move.String()
			if len(effect.Decisions) > 1 {
				text = decision.Application + ": " + text
			}
			versions = append(versions, text)
		}
	}
	return first(versions)
}

// applicationsOf returns the applications of an effect.
func applicationsOf(effect outcome.Effect) []string {
	names := []string{}
	for _, decision := range effect.Decisions {
		names = append(names, decision.Application)
	}
	return first(names)
}
