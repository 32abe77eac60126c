package service

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/queue"
	"promoter/internal/serverfile"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// healthPoller reads the Applications of Argo CD servers from time to time, where the server file
// configures that. Only what changed triggers reconciliations.
type healthPoller struct {
	connections *connect.Connections
	db          *database.DB
	queue       *queue.Queue
	store       *store.Store
	metrics     *telemetry.Metrics
	debounce    time.Duration
	log         *slog.Logger
}

// healthPolls returns the work that polls every such receiver.
func healthPolls(server *serverfile.Server) (triggers []queue.Trigger) {
	for _, receiver := range server.File.Receivers {
		if receiver.Poll != nil {
			triggers = append(triggers, queue.Trigger{Kind: KindHealth, Key: receiver.Name})
		}
	}
	return triggers
}

// handle polls one receiver. The queue retries an error with a growing delay.
func (p healthPoller) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	receiver, api, err := p.connections.ArgoCD(item.Key)
	if err != nil {
		return queue.Result{}, err
	}
	if receiver.Poll == nil { // an earlier server file had it
		return queue.Result{Forget: true}, nil
	}
	began := p.connections.Server.Now()
	applications, err := api.Applications(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	var reports []evidence.Report
	for _, application := range applications {
		report := application.Report(began)
		report.Health.Receiver = receiver.Name
		if len(report.Repositories) > 0 {
			reports = append(reports, report)
		}
	}
	if err := p.save(ctx, receiver.Name, reports); err != nil {
		return queue.Result{}, err
	}
	every := receiver.Poll.Every
	return queue.Result{Next: began.Add(every + rand.N(every/10+1))}, nil
}

// save stores those reports that changed and that a repository may use, and triggers these
// repositories, in one transaction.
func (p healthPoller) save(ctx context.Context, receiver string, reports []evidence.Report) error {
	return p.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		changed, err := p.store.Health.ChangedReports(ctx, tx, receiver, reports)
		if err != nil || len(changed) == 0 {
			return err
		}
		known, keys := map[event.Repository][]string{}, []string(nil)
		var used []evidence.Report
		for _, report := range changed {
			some := false
			for _, one := range report.Events() {
				found, ok := known[one.Repository]
				if !ok {
					if found, err = p.store.Subscribers(ctx, tx, receiver, one); err != nil {
						return err
					}
					known[one.Repository] = found
				}
				some, keys = some || len(found) > 0, append(keys, found...)
			}
			if some {
				used = append(used, report)
			}
		}
		if err := p.store.Health.SaveReports(ctx, tx, used); err != nil {
			return err
		}
		slices.Sort(keys)
		var triggers []queue.Trigger
		for _, key := range slices.Compact(keys) {
			triggers = append(triggers, debounced(KindRepository, key, p.debounce))
		}
		tx.AfterCommit(func() {
			for _, report := range used {
				p.metrics.HealthReport(receiver, report.Health.Source)
			}
			if len(used) > 0 {
				p.log.InfoContext(ctx, "health changed", slog.String("receiver", receiver), slog.Int("reports", len(used)),
					slog.Any("keys", first(slices.Compact(keys))))
			}
		})
		return p.queue.TriggerIn(ctx, tx, triggers...)
	})
}
