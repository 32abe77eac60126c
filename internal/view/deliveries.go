package view

import (
	"context"
	"time"

	"promoter/internal/access"
	"promoter/internal/store"
)

// Delivery is a stored webhook.
type Delivery struct {
	Receiver   string    `json:"receiver"`
	ID         string    `json:"id"`
	EventType  string    `json:"eventType"`
	ReceivedAt time.Time `json:"receivedAt"`
	SeenAt     time.Time `json:"seenAt"` // last time
	Times      int       `json:"times"`
}

// DeliveryOf returns what users read of a delivery.
func DeliveryOf(d store.Delivery) Delivery {
	return Delivery{
		Receiver: d.Receiver, ID: d.ID, EventType: d.EventType, ReceivedAt: d.ReceivedAt, SeenAt: d.SeenAt, Times: d.Times,
	}
}

// Deliveries lists stored webhooks, newest first. They belong to no repository: a principal that
// may not read all of them sees none.
func (v *View) Deliveries(ctx context.Context, p access.Principal, q ListQuery) (Page[Delivery], error) {
	page := Page[Delivery]{Items: []Delivery{}}
	at, fields, err := decodeTime(q.After, 2) //nolint:mnd // the ID and the receiver
	if err != nil || p.Restricted() {
		return page, err
	}
	var found []store.Delivery
	if q.After == "" {
		found, err = v.Store.Deliveries.Newest(ctx, q.Limit+1)
	} else {
		last := store.DeliveryRef{Delivery: fields[0], Receiver: fields[1]}
		found, err = v.Store.Deliveries.Before(ctx, store.DeliveryCursor{At: at, DeliveryRef: last}, q.Limit+1)
	}
	if err != nil {
		return page, err
	}
	if len(found) > q.Limit {
		found = found[:q.Limit]
		last := found[q.Limit-1]
		page.Next = encodeTime(last.ReceivedAt, last.ID, last.Receiver)
	}
	for _, d := range found {
		page.Items = append(page.Items, DeliveryOf(d))
	}
	return page, nil
}
