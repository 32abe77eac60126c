package app

import (
	"context"
	"slices"

	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
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
	for _, one := range slices.Concat(s.connections.HostBackoffs(), s.connections.CredentialBackoffs()) {
		status.Backoffs = append(status.Backoffs, server.Backoff{
			Peer: one.To, Host: one.Host, Credential: one.Credential, Until: one.Until.UTC(), Reason: one.Reason,
		})
	}
	return err
}
