package database_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
)

// busy holds the writer until it is let go.
func busy(t *testing.T, db *database.DB) (letGo func()) {
	t.Helper()
	began, end := make(chan bool), make(chan bool)
	var all sync.WaitGroup
	all.Go(func() {
		once := sync.OnceFunc(func() { close(began); <-end })
		if err := db.Batch(context.Background(), func(context.Context, *database.Tx) error { once(); return nil }); err != nil {
			t.Error(err)
		}
	})
	<-began
	return func() { close(end); all.Wait() }
}

func TestBatch_whoseTimeIsOverBeforeItBeganIsNot(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		letGo := busy(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := db.Batch(ctx, func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('late', 1)")
			return err
		})
		if !errors.Is(err, context.Canceled) || fault.KindOf(err) != fault.Temporary {
			t.Errorf("error %v", err)
		}
		letGo()
		if stored := number(t, db, "select count(*) from thing"); stored != 0 {
			t.Errorf("%d stored", stored)
		}
	})
}

func TestBatch_whoseTimeIsOverAfterItBeganIsWhatItIs(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Batch(ctx, func(ctx context.Context, tx *database.Tx) error {
			cancel()
			_, err := tx.Exec(ctx, "insert into thing (name, size) values ('begun', 1)")
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if stored := number(t, db, "select count(*) from thing"); stored != 1 {
			t.Errorf("%d stored", stored)
		}
	})
}

// waitFor returns when so many wait for the writer, which another one holds.
func waitFor(db *database.DB, count int) {
	for database.Waiting(db) < count {
		runtime.Gosched()
	}
}

// names is deferred work that writes a row for each of its names.
type names struct {
	key  string
	text []string
}

func (n names) Key() string { return n.key }

func (n names) Merge(later database.Deferred) database.Deferred {
	other, _ := later.(names)
	return names{n.key, slices.Concat(n.text, other.text)}
}

func (n names) Do(ctx context.Context, tx *database.Tx) error {
	slices.Sort(n.text)
	_, err := tx.Exec(ctx, "insert into thing (name, size) select ?, count(*) from thing", n.key+fmt.Sprint(n.text))
	return err
}

func TestBatch_mergesWhatIsDeferred(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		letGo := busy(t, db)
		var all sync.WaitGroup
		var mu sync.Mutex
		committed := 0
		for i := range 6 {
			all.Go(func() {
				err := db.Batch(t.Context(), func(_ context.Context, tx *database.Tx) error {
					tx.AfterCommit(func() { mu.Lock(); committed++; mu.Unlock() })
					tx.Defer(names{string(rune('b' - i%2)), []string{fmt.Sprint(i)}})
					if i > 3 {
						return errors.New("no")
					}
					return nil
				})
				if (err != nil) != (i > 3) {
					t.Errorf("%d: error %v", i, err)
				}
			})
		}
		waitFor(db, 6)
		letGo()
		all.Wait()
		var got []string
		if err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return tx.Query(ctx, func(scan database.Scan) error {
				name := ""
				err := scan(&name)
				got = append(got, name)
				return err
			}, "select name from thing order by size")
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a[1 3]", "b[0 2]"}, got); diff != "" {
			t.Errorf("rows in order (-want +got):\n%s", diff)
		}
		if committed != 4 {
			t.Errorf("%d were told of their commit", committed)
		}
	})
}

func TestBatch_deferredWorkThatFailsFailsItsCallers(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		table(t, db)
		letGo := busy(t, db)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				err := db.Batch(t.Context(), func(ctx context.Context, tx *database.Tx) error {
					if i%2 == 0 {
						tx.Defer(names{"\x00", nil}) // PostgreSQL keeps no such text
						tx.Defer(wrong{})
					}
					_, err := tx.Exec(ctx, "insert into thing (name, size) values (?, 0)", fmt.Sprint("thing ", i))
					return err
				})
				if (err != nil) != (i%2 == 0) {
					t.Errorf("%d: error %v", i, err)
				}
			})
		}
		waitFor(db, 6)
		letGo()
		all.Wait()
		if stored := number(t, db, "select count(*) from thing"); stored != 3 {
			t.Errorf("%d stored", stored)
		}
	})
}

type wrong struct{}

func (wrong) Key() string                                 { return "wrong" }
func (w wrong) Merge(database.Deferred) database.Deferred { return w }
func (wrong) Do(context.Context, *database.Tx) error      { return errors.New("wrong") }
