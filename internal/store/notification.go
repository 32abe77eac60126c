package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"promoter/internal/database"
)

// Notification is one message: about one promotion, at one destination.
type Notification struct {
	ID          string
	Repository  string // its key
	Destination string
	Message     string // JSON, with the events so far
	Events      int    // in the message
	Sent        int    // of these, sent or omitted
	Receipt     string // JSON: identifies the message at the service
	UpdatedAt   time.Time
	SentAt      time.Time // zero: never
	FailedAt    time.Time // zero: the last attempt succeeded, or there was none
	Error       string    // of the last attempt
}

// Notifications are the messages that are to be sent, or were.
type Notifications struct{ db *database.DB }

const notificationColumns = "id, repository, destination, message, events, sent, receipt, updated_at, sent_at, failed_at, error"

// columns are where notificationColumns are read to.
func (n *Notification) columns() []any {
	return []any{
		&n.ID, &n.Repository, &n.Destination, &n.Message, &n.Events, &n.Sent, &n.Receipt,
		&n.UpdatedAt, &n.SentAt, &n.FailedAt, &n.Error,
	}
}

// idsPerQuery limits the rows that one query names.
const idsPerQuery = 500

// Get returns those of the given messages that exist, by ID.
func (s Notifications) Get(ctx context.Context, tx *database.Tx, ids []string) (map[string]Notification, error) {
	found := map[string]Notification{}
	for some := range slices.Chunk(ids, idsPerQuery) {
		type row struct {
			ID string `json:"id"`
		}
		rows := make([]row, 0, len(some))
		for _, id := range some {
			rows = append(rows, row{id})
		}
		text, err := json.Marshal(rows)
		if err != nil {
			return nil, fmt.Errorf("read notifications: %w", err)
		}
		err = tx.Query(ctx, func(scan database.Scan) error {
			var one Notification
			err := scan(one.columns()...)
			found[one.ID] = one
			return err
		}, "select "+notificationColumns+" from notification where id in (select value->>'id' from @elements(?))", string(text))
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Save stores messages with their events. What was sent of those that exist stays as it is.
func (s Notifications) Save(ctx context.Context, tx *database.Tx, all []Notification) error {
	for _, n := range all {
		_, err := tx.Exec(ctx, `
insert into notification (`+notificationColumns+`) values (?, ?, ?, ?, ?, ?, '', @now, 0, 0, '')
on conflict (id) do update set message = excluded.message, events = excluded.events, updated_at = excluded.updated_at`,
			n.ID, n.Repository, n.Destination, storable(n.Message), n.Events, n.Sent)
		if err != nil {
			return err
		}
	}
	return nil
}

// One returns a message, or a NotFound fault.
func (s Notifications) One(ctx context.Context, id string) (n Notification, err error) {
	err = viewOne(ctx, s.db, n.columns(), "select "+notificationColumns+" from notification where id = ?", id)
	return n, err
}

// RecordSent stores that the first events of a message were sent or omitted, and its receipt.
func (s Notifications) RecordSent(ctx context.Context, id string, events int, receipt string) error {
	return exec(ctx, s.db, "update notification set sent = ?, receipt = ?, sent_at = @now, failed_at = 0, error = '' where id = ?",
		events, storable(receipt), id)
}

// RecordFailure stores why a message was not sent.
func (s Notifications) RecordFailure(ctx context.Context, id, reason string) error {
	return exec(ctx, s.db, "update notification set failed_at = @now, error = ? where id = ?", truncated(reason), id)
}

// Omit stores that the first events of a message are not sent any more, and why. An event that was
// added in the meantime is still to be sent.
func (s Notifications) Omit(ctx context.Context, id string, events int, reason string) error {
	return exec(ctx, s.db, "update notification set sent = ?, failed_at = @now, error = ? where id = ?",
		events, truncated(reason), id)
}

// NotificationCounts are the messages of one destination. Unknown times are omitted.
type NotificationCounts struct {
	Destination string    `json:"destination"`
	Waiting     int       `json:"waiting"`           // to be sent, or to be sent again
	Failed      int       `json:"failed"`            // whose last attempt failed
	SentAt      time.Time `json:"sentAt,omitzero"`   // the last one
	FailedAt    time.Time `json:"failedAt,omitzero"` // the last failure of those
	Error       string    `json:"error,omitempty"`   // of that failure
}

// Counts counts the messages of each destination.
func (s Notifications) Counts(ctx context.Context) ([]NotificationCounts, error) {
	return viewRows(ctx, s.db, func(scan database.Scan, one *NotificationCounts) error {
		return scan(&one.Destination, &one.Waiting, &one.Failed, &one.SentAt, &one.FailedAt, &one.Error)
	}, `
select destination, count(case when sent < events then 1 end), count(case when failed_at > 0 then 1 end), max(sent_at), max(failed_at),
	coalesce((select error from notification as last where last.destination = notification.destination and last.failed_at > 0
		order by last.failed_at desc, last.id limit 1), '')
from notification group by destination order by destination`)
}

// DeleteBefore deletes the messages without an event since a time, and returns their number.
func (s Notifications) DeleteBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	return aged{"notification", "id", "updated_at"}.deleteBefore(ctx, s.db, before)
}

// maxNotified limits the events that become messages after one reconciliation: the newest ones.
const maxNotified = 2000

// TakeUnnotified returns the events of a repository that are not among messages yet, oldest first,
// and marks them.
func (s Notifications) TakeUnnotified(ctx context.Context, tx *database.Tx, repository string) (all []Event, err error) {
	all, err = readRows(ctx, tx, scanEvent,
		selectEvents+"\nwhere repository = ? and notified = 0 order by at desc, id desc limit ?", repository, maxNotified)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	slices.Reverse(all)
	_, err = tx.Exec(ctx, "update history set notified = 1 where repository = ? and notified = 0", repository)
	return all, err
}

// IsFirst reports whether no reconciliation of a repository has read its history yet.
func (s Notifications) IsFirst(ctx context.Context, tx *database.Tx, repository string) (bool, error) {
	heads := 0
	err := tx.One(ctx, []any{&heads}, "select count(*) from history_head where repository = ?", repository)
	return heads == 0, err
}
