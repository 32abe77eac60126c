package service

import (
	"context"
	"time"

	"promoter/internal/database"
	"promoter/internal/queue"
	"promoter/internal/schedule"
	"promoter/internal/store"
)

// turns triggers each repository at its turns in the poll interval, so that the requests of
// a poll are spread evenly.
type turns struct {
	db    *database.DB
	queue *queue.Queue
	store *store.Store
	poll  time.Duration
}

// The turns that passed are looked up turnChecks times in a poll interval, and no more
// often than every minTurnCheck.
const (
	turnChecks   = 20
	minTurnCheck = 5 * time.Second
)

// handle triggers the repositories with a turn since the last call of any replica.
func (t turns) handle(ctx context.Context, _ queue.Item) (result queue.Result, err error) {
	err = t.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		after, until, err := t.store.Schedules.Advance(ctx, tx)
		if err != nil {
			return err
		}
		result.Next = until.Add(max(t.poll/turnChecks, min(minTurnCheck, t.poll)))
		images, err := t.store.Schedules.Images(ctx, tx)
		if err != nil {
			return err
		}
		var due []string
		for key, n := range images {
			if schedule.TurnsOf(key, n, t.poll).Passed(after, until) {
				due = append(due, key)
			}
		}
		return t.queue.TriggerIn(ctx, tx, repositoryTriggers(due)...)
	})
	return result, err
}
