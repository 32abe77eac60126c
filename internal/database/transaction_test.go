package database_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
)

// table makes a table for the test.
func table(t testing.TB, db *database.DB) {
	t.Helper()
	update(t, db, "create table thing (name text primary key, size bigint not null)")
}

func update(t testing.TB, db *database.DB, query string, args ...any) {
	t.Helper()
	err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func number(t testing.TB, db *database.DB, query string, args ...any) (n int64) {
	t.Helper()
	err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&n}, query, args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func insert(db *database.DB, name string, size int) error {
	return db.Batch(context.Background(), func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, "insert into thing (name, size) values (?, ?)", name, size)
		return err
	})
}

func TestBatch_eachCallerHasItsOwnResult(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		errs := make([]error, 100)
		var all sync.WaitGroup
		for i := range errs {
			// Every tenth name is the one that is there already.
			name := fmt.Sprint("thing ", i)
			if i%10 == 3 {
				name = "thing 0"
			}
			all.Go(func() { errs[i] = insert(db, name, i) })
		}
		all.Wait()
		failed := 0
		for _, err := range errs {
			if err != nil {
				failed++
				if fault.KindOf(err) != fault.Conflict {
					t.Errorf("error %v is a %s", err, fault.KindOf(err))
				}
			}
		}
		if stored := number(t, db, "select count(*) from thing"); failed != 10 || stored != 90 {
			t.Errorf("%d failed and %d are stored, want 10 and 90", failed, stored)
		}
	})
}

func TestBatch_aPanicEndsItsOwnCallerAlone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := insert(db, fmt.Sprint(i), i); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				defer func() {
					if recover() != "no" {
						t.Error("the panic did not reach its caller")
					}
				}()
				_ = db.Batch(context.Background(), func(ctx context.Context, tx *database.Tx) error {
					_, _ = tx.Exec(ctx, "insert into thing (name, size) values (?, 0)", fmt.Sprint("panic ", i))
					panic("no")
				})
			})
		}
		all.Wait()
		if stored := number(t, db, "select count(*) from thing"); stored != 20 {
			t.Errorf("%d are stored, want 20", stored)
		}
	})
}

func TestTransactions_holdWhatTheyPromise(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		wrong := errors.New("wrong")
		type transaction func(context.Context, func(context.Context, *database.Tx) error) error
		for name, run := range map[string]transaction{"update": db.Update, "batch": db.Batch} {
			err := run(t.Context(), func(ctx context.Context, tx *database.Tx) error {
				_, err := tx.Exec(ctx, "insert into thing (name, size) values ('half', 1)")
				return errors.Join(err, wrong)
			})
			if !errors.Is(err, wrong) {
				t.Errorf("%s: error %v", name, err)
			}
			err = run(t.Context(), func(ctx context.Context, tx *database.Tx) error {
				_, _ = tx.Exec(ctx, "insert into nothing values (1)")
				_, _ = tx.Exec(ctx, "insert into thing (name, size) values ('swallowed', 1)")
				return nil
			})
			if err == nil {
				t.Errorf("%s: a statement failed, and the transaction did not", name)
			}
			err = run(t.Context(), func(ctx context.Context, _ *database.Tx) error {
				return db.View(ctx, func(context.Context, *database.Tx) error { return nil })
			})
			if fault.KindOf(err) != fault.Internal {
				t.Errorf("%s: a transaction within it: %v", name, err)
			}
		}
		if stored := number(t, db, "select count(*) from thing"); stored != 0 {
			t.Errorf("%d rows were left behind", stored)
		}
		err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('read', 1)")
			return err
		})
		if err == nil {
			t.Error("a view wrote")
		}
	})
}
