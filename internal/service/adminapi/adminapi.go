// Package adminapi is the API of a running service for operators: its implementation in
// the service, and the client with which commands send requests to it. Package api has the routes and
// the JSON.
package adminapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/api"
	"promoter/internal/connect"
	"promoter/internal/queue"
	"promoter/internal/service"
	"promoter/internal/service/history"
	"promoter/internal/store"
	"promoter/internal/view"
)

// API implements api.Admin.
type API struct {
	Connections *connect.Connections
	Queue       *queue.Queue
	Store       *store.Store
	Inbox       *service.Inbox
	Unopened    func() []service.Unopened
}

// History implements api.Admin.
func (a *API) History(ctx context.Context, query api.HistoryQuery) (api.History, error) {
	return history.Query(ctx, a.Store, query, a.Connections.Server.Now())
}

// Limits of the status.
const (
	entriesPerPage = 1000
	maxDeliveries  = 20
)

// Status implements api.Admin.
func (a *API) Status(ctx context.Context) (api.Status, error) {
	status := api.Status{
		Schema: api.Schema, At: a.Connections.Server.Now().UTC(),
		Deliveries: []view.Delivery{}, Schedules: []api.Schedule{}, Backoffs: []api.Backoff{},
	}
	stored, err := a.Store.Repositories(ctx)
	if err != nil {
		return status, err
	}
	entries, err := a.entries(ctx)
	if err != nil {
		return status, err
	}
	scheduled, err := a.scheduled(ctx)
	if err != nil {
		return status, err
	}
	status.Repositories = withUnopened(repositoriesOf(stored, entries), a.Unopened(), scheduled[service.All].NotBefore)
	if err := a.addDrift(ctx, status.Repositories); err != nil {
		return status, err
	}
	if err := a.addSchedules(ctx, &status, scheduled); err != nil {
		return status, err
	}
	if status.Receivers, err = a.receivers(ctx, stored); err != nil {
		return status, err
	}
	if status.Notifications, err = a.notifications(ctx); err != nil {
		return status, err
	}
	for _, one := range slices.Concat(a.Connections.HostBackoffs(), a.Connections.CredentialBackoffs()) {
		status.Backoffs = append(status.Backoffs, api.Backoff{
			Peer: one.To, Host: one.Host, Credential: one.Credential, Until: one.Until.UTC(), Reason: one.Reason,
		})
	}
	for _, one := range a.Connections.Server.Files.Problems() {
		status.Secrets = append(status.Secrets, api.Secret{File: one.File, Use: one.Use, Reason: one.Reason})
	}
	deliveries, err := a.Store.Deliveries.Newest(ctx, maxDeliveries)
	for _, d := range deliveries {
		status.Deliveries = append(status.Deliveries, view.DeliveryOf(d))
	}
	return status, err
}

// notifications returns the messages of each destination that is in the server file or has some.
func (a *API) notifications(ctx context.Context) ([]api.Notification, error) {
	counted, err := a.Store.Notifications.Counts(ctx)
	if err != nil {
		return nil, err
	}
	all := append([]api.Notification{}, counted...)
	for _, d := range a.Connections.Server.File.Destinations {
		if !slices.ContainsFunc(all, func(n api.Notification) bool { return n.Destination == d.Name }) {
			all = append(all, api.Notification{Destination: d.Name})
		}
	}
	slices.SortFunc(all, func(x, y api.Notification) int { return cmp.Compare(x.Destination, y.Destination) })
	return all, nil
}

// addDrift adds the drift that the last reconciliation of each repository found.
func (a *API) addDrift(ctx context.Context, repositories []api.Repository) error {
	drifts, err := view.Drift(ctx, a.Store)
	for i := range repositories {
		repositories[i].Drift = drifts[repositories[i].Key]
	}
	return err
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
func repositoriesOf(stored []store.Repository, entries map[string]queue.Entry) []api.Repository {
	all := []api.Repository{}
	for _, one := range stored {
		shown := repositoryOf(entries[one.Key])
		shown.Name = one.Address()
		shown.Key = one.Key
		shown.Forge = one.Forge
		shown.ReconciledAt, shown.Failure = one.ReconciledAt, one.Failure
		if one.Failure != "" && shown.State == api.StateIdle {
			shown.State = api.StateFailing
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
	return sorted(all)
}

func sorted(all []api.Repository) []api.Repository {
	slices.SortFunc(all, func(a, b api.Repository) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// withUnopened adds the repositories that could not be opened. The next poll opens them
// again. One that could be opened before has its last reconciliation too.
func withUnopened(all []api.Repository, unopened []service.Unopened, next time.Time) []api.Repository {
	for _, one := range unopened {
		i := slices.IndexFunc(all, func(shown api.Repository) bool { return shown.Forge == one.Forge && shown.Name == one.Name })
		if i < 0 {
			i = len(all)
			all = append(all, api.Repository{Name: one.Name, Forge: one.Forge})
		}
		shown := &all[i]
		shown.State = api.StateFailing
		shown.NextRun = next
		shown.LastError = one.Err.Error()
		shown.FailedAt = one.At
		shown.Attempts = max(shown.Attempts, one.Attempts)
	}
	return sorted(all)
}

func repositoryOf(entry queue.Entry) api.Repository {
	shown := api.Repository{
		State: api.StateIdle, WaitingSince: entry.TriggeredAt, NextRun: entry.NotBefore,
		LastError: entry.LastError, FailedAt: entry.FailedAt, Crashes: entry.Crashes,
	}
	if entry.Crashes > 0 {
		shown.LastError = crashText(entry)
	}
	switch {
	case entry.Owner != "":
		shown.State = api.StateRunning
	case !entry.FailedAt.IsZero() || entry.Crashes > 0:
		shown.State, shown.Attempts = api.StateFailing, entry.Attempts
	case !entry.TriggeredAt.IsZero():
		shown.State = api.StateWaiting
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
	text := fmt.Sprintf("its reconciliation was running when promoter stopped unexpectedly (%s), so it is retried alone, "+
		"and later each time", times)
	if entry.LastError != "" {
		text += "; the last attempt: " + entry.LastError
	}
	return text
}

// scheduled returns the work of the poll and of the schedules, by key.
func (a *API) scheduled(ctx context.Context) (map[string]queue.Entry, error) {
	work := map[string]queue.Entry{}
	for _, kind := range []string{service.KindPoll, service.KindSchedule} {
		entries, err := a.Queue.Entries(ctx, kind, "", entriesPerPage)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			work[entry.Key] = entry
		}
	}
	return work, nil
}

// addSchedules adds when repositories are reconciled without a trigger. A poll that never
// succeeded is shown too.
func (a *API) addSchedules(ctx context.Context, status *api.Status, work map[string]queue.Entry) error {
	stored, err := a.Store.Schedules.All(ctx)
	if err != nil {
		return err
	}
	isPoll := func(one store.Schedule) bool { return one.Name == store.Poll }
	if work[service.All].LastError != "" && !slices.ContainsFunc(stored, isPoll) {
		stored = append(stored, store.Schedule{Name: store.Poll})
	}
	for _, one := range stored {
		entry := work[one.Name]
		if isPoll(one) {
			entry, one.Repositories = work[service.All], len(status.Repositories)
		}
		if one.Repositories > 0 || isPoll(one) && entry.LastError != "" {
			status.Schedules = append(status.Schedules, api.Schedule{
				Schedule: one.Name, Repositories: one.Repositories, Last: one.FiredAt, Next: entry.NotBefore, Failing: entry.LastError,
			})
		}
	}
	return nil
}
