package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// Delivery is a webhook that was verified and decoded.
type Delivery struct {
	Receiver  string // name of the receiver
	ID        string // assigned by the sender
	Sender    string // kind of the receiver
	EventType string // as the sender names it
	Events    []event.Event
	Header    http.Header // without credentials
	Body      []byte

	// Set by the database.
	ReceivedAt time.Time // first time
	SeenAt     time.Time // last time
	Times      int
}

// DeliveryRef identifies a delivery.
type DeliveryRef struct {
	Receiver string `json:"receiver"`
	Delivery string `json:"id"`
}

// Trigger is a delivery that triggered a reconciliation. Its zero value is that none did.
type Trigger struct {
	DeliveryRef
	At time.Time // when the first one arrived that no reconciliation had read
}

// Deliveries are the webhooks that were received.
type Deliveries struct{ db *database.DB }

// Save stores a delivery. A redelivery is counted and not stored again.
func (s Deliveries) Save(ctx context.Context, tx *database.Tx, d Delivery) error {
	events, err := json.Marshal(d.Events)
	if err != nil {
		return fmt.Errorf("store delivery %s: %w", d.ID, err)
	}
	header, err := json.Marshal(d.Header)
	if err != nil {
		return fmt.Errorf("store delivery %s: %w", d.ID, err)
	}
	body := d.Body
	if body == nil {
		body = []byte{} // not NULL
	}
	_, err = tx.Exec(ctx, `
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body)
values (?, ?, ?, ?, @now, @now, 1, ?, ?, ?)
on conflict (receiver, id) do update set seen_at = excluded.seen_at, times = delivery.times + 1`,
		d.Receiver, d.ID, d.Sender, d.EventType, string(events), string(header), body)
	return err
}

// deliveryColumns are the columns of deliveries in lists.
const deliveryColumns = "receiver, id, sender, event_type, received_at, seen_at, times"

// columns are where deliveryColumns are read to.
func (d *Delivery) columns() []any {
	return []any{&d.Receiver, &d.ID, &d.Sender, &d.EventType, &d.ReceivedAt, &d.SeenAt, &d.Times}
}

// Get returns one delivery, or a NotFound fault.
func (s Deliveries) Get(ctx context.Context, receiver, id string) (Delivery, error) {
	var d Delivery
	var events, header string
	columns := append(d.columns(), &events, &header, &d.Body)
	err := viewOne(ctx, s.db, columns, "select "+deliveryColumns+`, events, header, body
from delivery where receiver = ? and id = ?`, receiver, id)
	if err != nil {
		return Delivery{}, err
	}
	if err := json.Unmarshal([]byte(events), &d.Events); err != nil {
		return Delivery{}, fmt.Errorf("read the events of delivery %s: %w", d.ID, err)
	}
	if err := json.Unmarshal([]byte(header), &d.Header); err != nil {
		return Delivery{}, fmt.Errorf("read the headers of delivery %s: %w", d.ID, err)
	}
	return d, nil
}

// Receivers lists the receivers that have a delivery of this ID, sorted.
func (s Deliveries) Receivers(ctx context.Context, id string) (all []string, err error) {
	read := func(scan database.Scan, receiver *string) error { return scan(receiver) }
	return viewRows(ctx, s.db, read, "select receiver from delivery where id = ? order by receiver", id)
}

// Newest lists the newest deliveries, without their bodies and headers.
func (s Deliveries) Newest(ctx context.Context, limit int) ([]Delivery, error) {
	return s.Before(ctx, DeliveryCursor{At: database.Time(math.MaxInt64)}, limit)
}

// DeliveryCursor is the position of a delivery in the list of the newest.
type DeliveryCursor struct {
	At time.Time // when it was received
	DeliveryRef
}

// Before lists the deliveries that follow a position in the list of the newest.
func (s Deliveries) Before(ctx context.Context, position DeliveryCursor, limit int) ([]Delivery, error) {
	read := func(scan database.Scan, d *Delivery) error { return scan(d.columns()...) }
	return viewRows(ctx, s.db, read, "select "+deliveryColumns+` from delivery
where received_at <= ? and (received_at < ? or id > ? or (id = ? and receiver > ?)) order by received_at desc, id, receiver limit ?`,
		position.At, position.At, position.Delivery, position.Delivery, position.Receiver, limit)
}

// agedDeliveries are the deliveries by when they were received.
var agedDeliveries = aged{"delivery", "receiver, id", "received_at"}

// DeleteBefore deletes deliveries that were received before a time, and image
// events of that age, and returns the number of deliveries.
func (s Deliveries) DeleteBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	deleted, err = agedDeliveries.deleteBefore(ctx, s.db, before)
	if err != nil {
		return deleted, err
	}
	_, err = agedImageEvents.deleteBefore(ctx, s.db, before)
	return deleted, err
}

// Trim deletes the oldest deliveries beyond a total size of bodies and headers
// in bytes, so that senders cannot fill the disk, and returns their number.
func (s Deliveries) Trim(ctx context.Context, maxBytes int64) (deleted int64, err error) {
	return agedDeliveries.deleteFrom(ctx, s.db, `
select coalesce(max(received_at), 0) from (
	select received_at, sum(length(body) + length(header)) over (order by received_at desc, receiver, id) as total from delivery
) as sized where total > cast(? as bigint)`, maxBytes)
}
