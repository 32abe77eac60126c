package app

import (
	"context"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/telemetry"
)

// How a look ends, for the metrics.
const (
	lookDone    = "succeeded"
	lookTrouble = "partial" // a part of it failed, or nothing can be done in it
	lookFailed  = "failed"
)

// actFailed stands for an act that was to be done.
const actFailed = "failed"

// newMetrics makes the metrics of a service.
func newMetrics(file *serverconfig.Config, now func() time.Time, backoffs func() []telemetry.Backoff, work *queue.Queue) *telemetry.Metrics {
	var hosts []string
	for _, forge := range file.Forges {
		hosts = append(hosts, outbound.Host(forge.URL))
	}
	for _, registry := range file.Registries {
		hosts = append(hosts, registry.Host)
	}
	return telemetry.New(telemetry.Options{
		Hosts: hosts, Now: now, Backoffs: backoffs,
		Work: func(ctx context.Context) (all []telemetry.Work, err error) {
			stats, err := work.Stats(ctx)
			for _, one := range stats {
				all = append(all, telemetry.Work(one))
			}
			return all, err
		},
	})
}

// observeRequest counts a request and adds it to the trace.
func observeRequest(ctx context.Context, counts *telemetry.Metrics, to string, answer outbound.Exchange) {
	followRequest(ctx, to, answer)
	counts.Request(to, answer.Host, answer.Status, answer.Took)
	if to == connect.ToForge && answer.Remaining >= 0 {
		counts.RateLimit(answer.Host, answer.Remaining)
	}
}

// measure counts what came of a look.
func (s *service) measure(item queue.Item, report engine.Report, failed error, took time.Duration) {
	s.metrics.Reconciled(resultOf(report, failed), took)
	for _, done := range report.Effects {
		switch {
		case done.Err != nil:
			s.metrics.Action(actFailed)
		case done.Action != engine.ActionNone:
			s.metrics.Action(string(done.Action))
			if !item.TriggeredAt.IsZero() {
				s.metrics.EventToAction(string(done.Action), s.now().Sub(item.TriggeredAt))
			}
		}
	}
}

// resultOf is how a look ended.
func resultOf(report engine.Report, failed error) string {
	switch {
	case failed != nil:
		return lookFailed
	case failureOf(report, nil) != "":
		return lookTrouble
	}
	for _, done := range report.Effects {
		if done.Err != nil {
			return lookTrouble
		}
	}
	return lookDone
}
