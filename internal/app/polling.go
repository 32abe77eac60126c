package app

import (
	"context"

	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// tellPolling adds to the status when repositories are looked at by themselves, and
// which hosts are left alone, or asked nothing with one credential.
func (s *service) tellPolling(ctx context.Context, status *server.Status) error {
	status.Schedules, status.Backoffs = []server.Schedule{}, []server.Backoff{}
	work := map[string]queue.Entry{}
	for _, kind := range []string{kindPoll, kindSchedule} {
		entries, err := s.queue.Entries(ctx, kind, "", entriesAtOnce)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			work[entry.Key] = entry
		}
	}
	known, err := s.store.Schedules(ctx)
	for _, one := range known {
		entry := work[one.Name]
		if one.Name == store.Poll {
			entry, one.Repositories = work[everything], len(status.Repositories)
		}
		if one.Repositories > 0 {
			status.Schedules = append(status.Schedules, server.Schedule{
				Schedule: one.Name, Repositories: one.Repositories, Last: one.FiredAt, Next: entry.NotBefore, Failing: entry.LastError,
			})
		}
	}
	for _, one := range s.pauses() {
		status.Backoffs = append(status.Backoffs, server.Backoff{To: one.to, Host: one.Host, Until: one.Until.UTC(), Reason: one.Why})
	}
	for _, one := range s.standing.pauses() {
		status.Backoffs = append(status.Backoffs, server.Backoff{To: toForge, Host: one.Host, Credential: one.credential, Until: one.Until.UTC(), Reason: one.Why})
	}
	return err
}

// hostPause is one with the way that it is on.
type hostPause struct {
	to string
	outbound.Pause
}

// pauses are those that are on for this process.
func (s *Server) pauses() (all []hostPause) {
	made, err := s.newWays()
	if err != nil {
		return nil // nothing was sent either
	}
	for _, way := range []struct {
		to     string
		client *outbound.Client
	}{{toForge, made.forges}, {toGit, made.git}, {toMachine, made.machine}, {toRegistry, made.registries}} {
		for _, one := range way.client.Pauses() {
			all = append(all, hostPause{to: way.to, Pause: one})
		}
	}
	return all
}

// paused are the pauses for the metrics.
func (s *Server) paused() (all []telemetry.Backoff) {
	now := s.now()
	for _, one := range s.pauses() {
		all = append(all, telemetry.Backoff{Target: one.to, Host: one.Host, Remaining: one.Until.Sub(now)})
	}
	return all
}
