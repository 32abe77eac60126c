// Package adminapi is the API of a running service for operators: its implementation in
// the service, and its client for the commands status, history, and replay. Package
// server has the routes and the JSON.
package adminapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"promoter/internal/connect"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/service"
	"promoter/internal/service/history"
	"promoter/internal/store"
)

// API implements server.AdminAPI.
type API struct {
	Connections *connect.Connections
	Queue       *queue.Queue
	Store       *store.Store
	Inbox       *service.Inbox
}

// History implements server.AdminAPI.
func (a *API) History(ctx context.Context, query server.HistoryQuery) (server.History, error) {
	return history.Query(ctx, a.Store, query, a.Connections.Server.Now())
}

// Limits of the status.
const (
	entriesPerPage = 1000
	maxDeliveries  = 20
)

// Status implements server.AdminAPI.
func (a *API) Status(ctx context.Context) (server.Status, error) {
	status := server.Status{
		Schema: server.Schema, At: a.Connections.Server.Now().UTC(),
		Deliveries: []server.Delivery{}, Schedules: []server.Schedule{}, Backoffs: []server.Backoff{},
	}
	stored, err := a.Store.Repositories(ctx)
	if err != nil {
		return status, err
	}
	entries, err := a.entries(ctx)
	if err != nil {
		return status, err
	}
	status.Repositories = repositoriesOf(stored, entries)
	if err := a.addSchedules(ctx, &status); err != nil {
		return status, err
	}
	for _, one := range slices.Concat(a.Connections.HostBackoffs(), a.Connections.CredentialBackoffs()) {
		status.Backoffs = append(status.Backoffs, server.Backoff{
			Peer: one.To, Host: one.Host, Credential: one.Credential, Until: one.Until.UTC(), Reason: one.Reason,
		})
	}
	deliveries, err := a.Store.Deliveries(ctx, maxDeliveries)
	for _, d := range deliveries {
		status.Deliveries = append(status.Deliveries, server.Delivery{
			Receiver: d.Receiver, ID: d.ID, EventType: d.EventType, ReceivedAt: d.ReceivedAt, SeenAt: d.SeenAt, Times: d.Times,
		})
	}
	return status, err
}

// entries returns the work on repositories, by key.
func (a *API) entries(ctx context.Context) (map[string]queue.Entry, error) {
	all, after := map[string]queue.Entry{}, ""
	for {
		page, err := a.Queue.Entries(ctx, service.KindRepository, after, entriesPerPage)
		if err != nil {
			return nil, err
		}
		for _, entry := range page {
			all[entry.Key] = entry
			after = entry.Key
		}
		if len(page) < entriesPerPage {
			return all, nil
		}
	}
}

// repositoriesOf joins the stored repositories with the work on them. A repository that
// was never reconciled has only its key.
func repositoriesOf(stored []store.Repository, entries map[string]queue.Entry) []server.Repository {
	all := []server.Repository{}
	for _, one := range stored {
		shown := repositoryOf(entries[one.Key])
		shown.Name, shown.Key, shown.Forge = one.Host+"/"+one.Name, one.Key, one.Forge
		shown.ReconciledAt, shown.Failure = one.ReconciledAt, one.Failure
		if one.Failure != "" && shown.State == server.StateIdle {
			shown.State = server.StateFailing
		}
		shown.Attempts = max(shown.Attempts, one.Failures)
		all = append(all, shown)
		delete(entries, one.Key)
	}
	for key, entry := range entries {
		shown := repositoryOf(entry)
		shown.Name, shown.Key = key, key
		all = append(all, shown)
	}
	slices.SortFunc(all, func(a, b server.Repository) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return all
}

func repositoryOf(entry queue.Entry) server.Repository {
	shown := server.Repository{
		State: server.StateIdle, WaitingSince: entry.TriggeredAt, NextRun: entry.NotBefore,
		LastError: entry.LastError, FailedAt: entry.FailedAt, Crashes: entry.Crashes,
	}
	if entry.Crashes > 0 {
		shown.LastError = crashText(entry)
	}
	switch {
	case entry.Owner != "":
		shown.State = server.StateRunning
	case !entry.FailedAt.IsZero() || entry.Crashes > 0:
		shown.State, shown.Attempts = server.StateFailing, entry.Attempts
	case !entry.TriggeredAt.IsZero():
		shown.State = server.StateWaiting
	}
	return shown
}

// crashText explains why a repository is retried later than others, with the error of
// the last attempt, if that ended.
func crashText(entry queue.Entry) string {
	times := "once"
	if entry.Crashes > 1 {
		times = fmt.Sprintf("%d times", entry.Crashes)
	}
	text := fmt.Sprintf("its reconciliation was running when promoter stopped unexpectedly (%s), so it is retried alone, and later each time", times)
	if entry.LastError != "" {
		text += "; the last attempt: " + entry.LastError
	}
	return text
}

// addSchedules adds when repositories are reconciled without a trigger.
func (a *API) addSchedules(ctx context.Context, status *server.Status) error {
	work := map[string]queue.Entry{}
	for _, kind := range []string{service.KindPoll, service.KindSchedule} {
		entries, err := a.Queue.Entries(ctx, kind, "", entriesPerPage)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			work[entry.Key] = entry
		}
	}
	stored, err := a.Store.Schedules(ctx)
	for _, one := range stored {
		entry := work[one.Name]
		if one.Name == store.Poll {
			entry, one.Repositories = work[service.All], len(status.Repositories)
		}
		if one.Repositories > 0 {
			status.Schedules = append(status.Schedules, server.Schedule{
				Schedule: one.Name, Repositories: one.Repositories, Last: one.FiredAt, Next: entry.NotBefore, Failing: entry.LastError,
			})
		}
	}
	return err
}
