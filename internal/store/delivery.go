package store

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// Delivery is a webhook that was proven and read.
type Delivery struct {
	Receiver  string // the name of the entry that took it
	ID        string // the sender's own
	Sender    string // the kind of the receiver
	EventType string // as the sender calls it
	Events    []event.Event
	Header    http.Header // without credentials
	Body      []byte

	// Set by the database.
	ReceivedAt time.Time // the first time
	SeenAt     time.Time // the last time
	Times      int
}

// SaveDelivery stores a delivery. One that was seen before is stored once, and counted.
func (s *Store) SaveDelivery(ctx context.Context, tx *database.Tx, d Delivery) error {
	hints, err := json.Marshal(d.Events)
	if err != nil {
		return fmt.Errorf("keep the delivery %s: %w", d.ID, err)
	}
	header, err := json.Marshal(d.Header)
	if err != nil {
		return fmt.Errorf("keep the delivery %s: %w", d.ID, err)
	}
	_, err = tx.Exec(ctx, `
insert into delivery (receiver, id, sender, event, received_at, seen_at, times, hints, header, body)
values (?, ?, ?, ?, @now, @now, 1, ?, ?, ?)
on conflict (receiver, id) do update set seen_at = excluded.seen_at, times = delivery.times + 1`,
		d.Receiver, d.ID, d.Sender, d.EventType, string(hints), string(header), notNil(d.Body))
	return err
}

// notNil: a nil slice would be the null of SQL.
func notNil(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}

// Delivery returns one delivery; one that is not there is a NotFound fault.
func (s *Store) Delivery(ctx context.Context, receiver, id string) (Delivery, error) {
	var found Delivery
	err := s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return one(ctx, tx, &found, "select "+deliveryColumns+" from delivery where receiver = ? and id = ?", receiver, id)
	})
	return found, err
}

// Receivers lists the receivers that took a delivery of this id, sorted.
func (s *Store) Receivers(ctx context.Context, id string) (all []string, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		all, err = lanes(ctx, tx, "select receiver from delivery where id = ? order by receiver", id)
		return err
	})
	return all, err
}

const deliveryColumns = "receiver, id, sender, event, received_at, seen_at, times, hints, header, body"

func one(ctx context.Context, tx *database.Tx, into *Delivery, query string, args ...any) error {
	var hints, header string
	var received, seen int64
	columns := []any{&into.Receiver, &into.ID, &into.Sender, &into.EventType, &received, &seen, &into.Times, &hints, &header, &into.Body}
	if err := tx.One(ctx, columns, query, args...); err != nil {
		return err
	}
	into.ReceivedAt, into.SeenAt = database.Time(received), database.Time(seen)
	if err := json.Unmarshal([]byte(hints), &into.Events); err != nil {
		return fmt.Errorf("read the hints of the delivery %s: %w", into.ID, err)
	}
	if err := json.Unmarshal([]byte(header), &into.Header); err != nil {
		return fmt.Errorf("read the headers of the delivery %s: %w", into.ID, err)
	}
	return nil
}

// Deliveries lists the newest deliveries, without their bodies and headers.
func (s *Store) Deliveries(ctx context.Context, limit int) (all []Delivery, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var d Delivery
			var received, seen int64
			if err := scan(&d.Receiver, &d.ID, &d.Sender, &d.EventType, &received, &seen, &d.Times); err != nil {
				return err
			}
			d.ReceivedAt, d.SeenAt = database.Time(received), database.Time(seen)
			all = append(all, d)
			return nil
		}, "select receiver, id, sender, event, received_at, seen_at, times from delivery order by received_at desc, id limit ?", limit)
	})
	return all, err
}
