package database_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
)

// table creates a table for the test.
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
	return db.Update(context.Background(), func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, "insert into thing (name, size) values (?, ?)", name, size)
		return err
	})
}

func TestUpdate_concurrentCallersGetTheirOwnResult(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		errs := make([]error, 100)
		var all sync.WaitGroup
		for i := range errs {
			// Every tenth name exists already.
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

func TestUpdate_panicAffectsOnlyItsCaller(t *testing.T) {
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
				_ = db.Update(context.Background(), func(ctx context.Context, tx *database.Tx) error {
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

func TestUpdate_canceledBeforeItBeginsWritesNothing(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		began, end := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			once := sync.OnceFunc(func() { close(began); <-end })
			if err := db.Update(context.Background(), func(context.Context, *database.Tx) error { once(); return nil }); err != nil {
				t.Error(err)
			}
		})
		<-began
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('late', 1)")
			return err
		})
		if !errors.Is(err, context.Canceled) || fault.KindOf(err) != fault.Temporary {
			t.Errorf("error %v", err)
		}
		close(end)
		all.Wait()
		if stored := number(t, db, "select count(*) from thing"); stored != 0 {
			t.Errorf("%d stored", stored)
		}
	})
}

func TestUpdate_canceledInProgressWritesAllOrNothing(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.Exec(ctx, "insert into thing (name, size) values ('first', 1)"); err != nil {
				return err
			}
			cancel()
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('second', 1)")
			return err
		})
		if fault.KindOf(err) != fault.Temporary {
			t.Errorf("error %v", err)
		}
		if stored := number(t, db, "select count(*) from thing"); stored != 0 {
			t.Errorf("%d stored", stored)
		}
		if err := insert(db, "afterwards", 1); err != nil {
			t.Error(err)
		}
	})
}

func TestUpdate_callsAfterCommitOnlyWhenCommitted(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		for _, want := range []error{nil, errors.New("no")} {
			called := 0
			err := db.Update(t.Context(), func(_ context.Context, tx *database.Tx) error {
				tx.AfterCommit(func() { called++ })
				return want
			})
			if !errors.Is(err, want) || (called == 1) != (want == nil) {
				t.Errorf("called %d times after %v", called, err)
			}
		}
	})
}

func TestTransactions_areAtomicAndNotNested(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		wrong := errors.New("wrong")
		err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('half', 1)")
			return errors.Join(err, wrong)
		})
		if !errors.Is(err, wrong) {
			t.Errorf("error %v", err)
		}
		err = db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, _ = tx.Exec(ctx, "insert into nothing values (1)")
			_, _ = tx.Exec(ctx, "insert into thing (name, size) values ('swallowed', 1)")
			return nil
		})
		if err == nil {
			t.Error("a statement failed, and the transaction did not")
		}
		err = db.Update(t.Context(), func(ctx context.Context, _ *database.Tx) error {
			return db.View(ctx, func(context.Context, *database.Tx) error { return nil })
		})
		if fault.KindOf(err) != fault.Internal {
			t.Errorf("a nested transaction: %v", err)
		}
		if stored := number(t, db, "select count(*) from thing"); stored != 0 {
			t.Errorf("%d rows were left behind", stored)
		}
		err = db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('read', 1)")
			return err
		})
		if err == nil {
			t.Error("a view wrote")
		}
	})
}

func TestUpdate_retriesSerializationFailures(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Kinds()[1].New(t))
	table(t, db)
	attempts := 0
	err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		if attempts++; attempts < 3 {
			_, err := tx.Exec(ctx, "do $$ begin raise exception 'conflict' using errcode = '40001'; end $$")
			return err
		}
		_, err := tx.Exec(ctx, "insert into thing (name, size) values ('third', 1)")
		return err
	})
	if err != nil || attempts != 3 || number(t, db, "select count(*) from thing") != 1 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
	attempts = 0
	err = db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		attempts++
		_, err := tx.Exec(ctx, "do $$ begin raise exception 'conflict' using errcode = '40P01'; end $$")
		return err
	})
	if fault.KindOf(err) != fault.Conflict || attempts != 4 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
}

func TestCommitHook_seesTheStatementsAndDecidesTheCommit(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		o, halt, saw := kind.New(t), true, 0
		o.CommitHook = func(done []database.Statement, commit func() error) error {
			if last := done[len(done)-1]; !strings.HasPrefix(last.Text, "insert into heartbeat") || last.Arguments[0] != 7 {
				t.Errorf("saw %v", done)
			}
			saw++
			if halt {
				return errors.New("halted")
			}
			return commit()
		}
		db := databasetest.Open(t, o)
		beat := func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into heartbeat (written_at) values (?)", 7)
			return err
		}
		if err := db.Update(t.Context(), beat); err == nil {
			t.Error("a halted commit is reported as done")
		}
		halt = false
		if err := db.Update(t.Context(), beat); err != nil {
			t.Error(err)
		}
		if n := number(t, db, "select count(*) from heartbeat where written_at = 7"); n != 1 || saw != 2 {
			t.Errorf("%d rows, seen %d times", n, saw)
		}
	})
}
