package app

import (
	"cmp"
	"context"
	"slices"

	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/webhook"
)

// Bounds of the status.
const (
	entriesAtOnce = 1000
	lateDelivered = 20
)

// Status implements server.Desk.
func (s *service) Status(ctx context.Context) (server.Status, error) {
	status := server.Status{Schema: server.Schema, At: s.now().UTC(), Deliveries: []server.Delivery{}}
	known, err := s.store.Repositories(ctx)
	if err != nil {
		return status, err
	}
	entries, err := s.entries(ctx)
	if err != nil {
		return status, err
	}
	status.Repositories = lanesOf(known, entries)
	if err := s.tellPolling(ctx, &status); err != nil {
		return status, err
	}
	late, err := s.store.Deliveries(ctx, lateDelivered)
	for _, d := range late {
		status.Deliveries = append(status.Deliveries, server.Delivery{
			Receiver: d.Receiver, ID: d.ID, EventType: d.EventType, ReceivedAt: d.ReceivedAt, SeenAt: d.SeenAt, Times: d.Times,
		})
	}
	return status, err
}

// entries lists the work on repositories, by key.
func (s *service) entries(ctx context.Context) (map[string]queue.Entry, error) {
	all, after := map[string]queue.Entry{}, ""
	for {
		page, err := s.queue.Entries(ctx, kindLane, after, entriesAtOnce)
		if err != nil {
			return nil, err
		}
		for _, entry := range page {
			all[entry.Key] = entry
			after = entry.Key
		}
		if len(page) < entriesAtOnce {
			return all, nil
		}
	}
}

// lanesOf joins what is known of repositories with the work on them. Work on one that
// was never looked at has only its key.
func lanesOf(known []store.Repository, entries map[string]queue.Entry) []server.Repository {
	all := []server.Repository{}
	for _, lane := range known {
		shown := shownLane(entries[lane.Key])
		shown.Name, shown.Key, shown.Forge = lane.Host+"/"+lane.Name, lane.Key, lane.Forge
		shown.ReconciledAt, shown.Failure = lane.ReconciledAt, lane.Failure
		all = append(all, shown)
		delete(entries, lane.Key)
	}
	for key, entry := range entries {
		shown := shownLane(entry)
		shown.Name, shown.Key = key, key
		all = append(all, shown)
	}
	slices.SortFunc(all, func(a, b server.Repository) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return all
}

func shownLane(entry queue.Entry) server.Repository {
	lane := server.Repository{
		State: server.StateIdle, WaitingSince: entry.TriggeredAt, NextRun: entry.NotBefore,
		LastError: entry.LastError, FailedAt: entry.FailedAt,
	}
	switch {
	case entry.Owner != "":
		lane.State = server.StateRunning
	case !entry.FailedAt.IsZero():
		lane.State, lane.Attempts = server.StateFailing, entry.Attempts
	case !entry.TriggeredAt.IsZero():
		lane.State = server.StateWaiting
	}
	return lane
}

// Replay implements server.Desk: a delivery that was kept goes the same way again, by
// what this release reads from it.
func (s *service) Replay(ctx context.Context, what server.Replay) (server.Replayed, error) {
	kept, err := s.kept(ctx, what)
	if err != nil {
		return server.Replayed{}, err
	}
	read, err := webhook.Decode(kept.Sender, webhook.Request{Header: kept.Header, Body: kept.Body})
	if err != nil {
		return server.Replayed{}, err
	}
	read.ID = kept.ID
	replayed := replayedOf(kept.Receiver, read)
	if len(read.Events) == 0 {
		return replayed, nil
	}
	var work []queue.Trigger
	if what.DryRun {
		err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
			work, err = s.followed(ctx, tx, read.Events)
			return err
		})
	} else {
		work, err = s.take(ctx, server.Accepted{
			Delivery: read, Receiver: kept.Receiver, Sender: kept.Sender, At: s.now(), Header: kept.Header, Body: kept.Body,
		})
	}
	replayed.Repositories = keysOf(work)
	return replayed, err
}

// kept finds a delivery. The ids of two senders may be the same.
func (s *service) kept(ctx context.Context, what server.Replay) (store.Delivery, error) {
	if what.Receiver != "" {
		found, err := s.store.Delivery(ctx, what.Receiver, what.ID)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, "the receiver %s keeps no delivery %s: %s", what.Receiver, what.ID, s.keptFor())
		}
		return found, err
	}
	receivers, err := s.store.Receivers(ctx, what.ID)
	switch {
	case err != nil:
		return store.Delivery{}, err
	case len(receivers) == 0:
		return store.Delivery{}, fault.New(fault.NotFound, "there is no delivery %s: %s", what.ID, s.keptFor())
	case len(receivers) > 1:
		return store.Delivery{}, fault.New(fault.Invalid, "%s is a delivery of %s: name one with --receiver", what.ID, fault.List(receivers))
	}
	return s.store.Delivery(ctx, receivers[0], what.ID)
}

func replayedOf(receiver string, read webhook.Delivery) server.Replayed {
	replayed := server.Replayed{
		Schema: server.Schema, Receiver: receiver, ID: read.ID, EventType: read.EventType,
		Events: []string{}, Ignored: read.Ignored, Repositories: []string{},
	}
	for _, hint := range read.Events {
		replayed.Events = append(replayed.Events, hint.String())
	}
	return replayed
}

// keysOf are the repositories that work is about, each once.
func keysOf(work []queue.Trigger) []string {
	keys := []string{}
	for _, hint := range work {
		if hint.Kind == kindLane {
			keys = append(keys, hint.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
