package database_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

type sizeOf string

// sizeIn asks for the size of a thing, and counts how often the database was asked.
func sizeIn(ctx context.Context, tx *database.Tx, name string, asked *int) (size int, err error) {
	return database.Once(tx, sizeOf(name), func() (size int, err error) {
		*asked++
		err = tx.One(ctx, []any{&size}, "select size from thing where name = ?", name)
		return size, err
	})
}

// Those who share a transaction share answers, until somebody writes what they depend
// on or what somebody did is undone.
func TestOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		write := func(size int) func(ctx context.Context, tx *database.Tx) error {
			return func(ctx context.Context, tx *database.Tx) error {
				tx.ForgetAnswers()
				_, err := tx.Exec(ctx, "insert into thing (name, size) values ('a', ?) on conflict (name) do update set size = excluded.size", size)
				return err
			}
		}
		if err := db.Batch(t.Context(), write(1)); err != nil {
			t.Fatal(err)
		}
		asked, failure := 0, errors.New("the member's own")
		sees := func(want int) func(ctx context.Context, tx *database.Tx) error {
			return func(ctx context.Context, tx *database.Tx) error {
				if got, err := sizeIn(ctx, tx, "a", &asked); got != want || err != nil {
					t.Errorf("size %d, want %d: %v", got, want, err)
				}
				return nil
			}
		}
		together := func(fails error, members ...func(context.Context, *database.Tx) error) {
			letGo := busy(t, db)
			var all sync.WaitGroup
			for n, member := range members {
				all.Go(func() {
					if err := db.Batch(context.Background(), member); err != nil && !errors.Is(err, fails) {
						t.Error(err)
					}
				})
				waitFor(db, n+1)
			}
			letGo()
			all.Wait()
		}
		together(nil, sees(1), sees(1), sees(1), write(2), sees(2), sees(2))
		if asked != 2 {
			t.Errorf("asked %d times, want once before and once after the change", asked)
		}
		undone := func(ctx context.Context, tx *database.Tx) error {
			if err := write(3)(ctx, tx); err != nil {
				return err
			}
			if got, err := sizeIn(ctx, tx, "a", &asked); got != 3 || err != nil {
				t.Errorf("its own size %d: %v", got, err)
			}
			return failure
		}
		together(failure, undone, sees(2))
	})
}
