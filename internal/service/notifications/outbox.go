package notifications

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"promoter/internal/database"
	"promoter/internal/notify"
	"promoter/internal/promotion"
	"promoter/internal/store"
)

// maxAge is the age of an event from which it is no news: after a long outage, or when a branch is
// read for the first time.
const maxAge = 7 * 24 * time.Hour

// Add adds what a reconciliation recorded to the outbox, within its transaction and after its
// history. It returns the IDs of the messages to send.
//
// The first reconciliation of a repository finds years of history. It sends nothing older than
// itself, and takes what waits as known.
func Add(
	ctx context.Context, tx *database.Tx, s *store.Store, source Source, decisions []promotion.Decision, first bool, began, now time.Time,
) ([]string, error) {
	events, err := s.Notifications.TakeUnnotified(ctx, tx, source.Repository.Key)
	if err != nil {
		return nil, err
	}
	since := now.Add(-maxAge)
	if first {
		since = began
	}
	drafts := source.drafts(append(sorted(fromDecisions(decisions, now)), sorted(fromHistory(events, since))...))
	if len(drafts) == 0 {
		return nil, nil
	}
	ids := make([]string, 0, len(drafts))
	for _, d := range drafts {
		ids = append(ids, d.message.ID)
	}
	known, err := s.Notifications.Get(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	var changed []store.Notification
	var toSend []string
	for _, d := range drafts {
		row, exists := known[d.message.ID]
		message := d.message
		if exists {
			var before notify.Message
			if err := json.Unmarshal([]byte(row.Message), &before); err != nil {
				return nil, fmt.Errorf("read notification %s: %w", row.ID, err)
			}
			if message = merge(before, d.message); len(message.Events) == len(before.Events) {
				continue
			}
		}
		text, err := json.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("write notification %s: %w", message.ID, err)
		}
		row = store.Notification{
			ID: message.ID, Repository: source.Repository.Key, Destination: d.destination, Message: string(text),
			Events: len(message.Events),
		}
		for first && !exists && row.Sent < len(message.Events) && !isHistory(message.Events[row.Sent].State) {
			row.Sent++ // known
		}
		changed = append(changed, row)
		if exists || row.Sent < row.Events {
			toSend = append(toSend, row.ID)
		}
	}
	return toSend, s.Notifications.Save(ctx, tx, changed)
}

// isHistory reports whether events of a state are in the history, so that they happen once.
func isHistory(state notify.State) bool {
	return state != notify.Version && state != notify.Waiting && state != notify.Stuck
}
