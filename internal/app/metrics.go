package app

import (
	"context"
	"time"

	"promoter/internal/engine"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/telemetry"
)

// What the hosts are that are asked, for the metrics.
const (
	toRegistry = "registry"
	toForge    = "forge"
	toGit      = "git"
	toMachine  = "machine"
	// toCollector is the collector of traces.
	toCollector = "collector"
)

// How a look ends, for the metrics.
const (
	lookDone    = "done"
	lookTrouble = "trouble" // a part of it failed, or nothing can be done in it
	lookFailed  = "failed"
)

// actFailed stands for an act that was to be done.
const actFailed = "failed"

// newMetrics makes the metrics of a service.
func (s *Server) newMetrics(work *queue.Queue) *telemetry.Metrics {
	var hosts []string
	for _, forge := range s.file.Forges {
		hosts = append(hosts, hostOf(forge.URL))
	}
	for _, registry := range s.file.Registries {
		hosts = append(hosts, registry.Host)
	}
	return telemetry.New(telemetry.Options{
		Hosts: hosts, Now: s.now, Backoffs: s.paused,
		Work: func(ctx context.Context) (all []telemetry.Work, err error) {
			stats, err := work.Stats(ctx)
			for _, one := range stats {
				all = append(all, telemetry.Work(one))
			}
			return all, err
		},
	})
}

// observe counts the requests of a way out. Only a service counts.
func (s *Server) observe(to string) func(context.Context, outbound.Answer) {
	if s.watch != nil {
		return func(_ context.Context, answer outbound.Answer) { s.watch(to, answer) }
	}
	return func(ctx context.Context, answer outbound.Answer) {
		counts := s.metrics // the way to the collector of traces is older
		if counts == nil {
			return
		}
		followRequest(ctx, to, answer)
		counts.Request(to, answer.Host, answer.Status, answer.Took)
		if to == toForge && answer.Remaining >= 0 {
			counts.RateLimit(answer.Host, answer.Remaining)
		}
	}
}

// remembered counts what is known of digests.
func (s *Server) remembered() func(bool) {
	if s.metrics == nil {
		return nil
	}
	return s.metrics.ImageMetadata
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
