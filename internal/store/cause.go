package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// RecordTrigger keeps which webhook last hinted at each of the lanes, with the transaction.
func (s *Store) RecordTrigger(tx *database.Tx, by Trigger, lanes []string) {
	if len(lanes) == 0 {
		return
	}
	pending := causes{}
	for _, lane := range lanes {
		pending[lane] = Trigger{Receiver: plain(by.Receiver), Delivery: plain(by.Delivery)}
	}
	tx.Defer(pending)
}

// causes are those that a transaction is to write, all with one statement, after the
// hints: so a cause is never older than the hint that came with it.
type causes map[string]Trigger

// Key implements database.Deferred. Work goes by this order: hints before causes.
func (c causes) Key() string { return "work cause" }

// Merge implements database.Deferred.
func (c causes) Merge(later database.Deferred) database.Deferred {
	if others, ok := later.(causes); ok {
		maps.Copy(c, others)
	}
	return c
}

// Do implements database.Deferred. The order is that of the lanes on all servers.
func (c causes) Do(ctx context.Context, tx *database.Tx) error {
	type row struct {
		Lane     string `json:"lane"`
		Receiver string `json:"receiver"`
		Delivery string `json:"delivery"`
	}
	rows := make([]row, 0, len(c))
	for _, lane := range slices.Sorted(maps.Keys(c)) {
		rows = append(rows, row{lane, c[lane].Receiver, c[lane].Delivery})
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("write causes: %w", err)
	}
	_, err = tx.Exec(ctx, `
insert into cause (lane, receiver, delivery, hinted_at)
select value->>'lane', value->>'receiver', value->>'delivery', @now from @elements(?) where true
on conflict (lane) do update set receiver = excluded.receiver, delivery = excluded.delivery, hinted_at = excluded.hinted_at`, string(text))
	return err
}

// TriggerSince returns the last webhook that hinted at a lane, if that was not before the
// time; else a zero one.
func (s *Store) TriggerSince(ctx context.Context, lane string, since time.Time) (c Trigger, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&c.Receiver, &c.Delivery},
			"select receiver, delivery from cause where lane = ? and hinted_at >= ?", lane, since)
	})
	if fault.KindOf(err) == fault.NotFound {
		err = nil
	}
	return c, err
}
