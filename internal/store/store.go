package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/fault"
)

// Store is the data in one database. It is safe for concurrent use.
type Store struct {
	Deliveries    Deliveries
	Health        HealthRecords
	Snapshots     Snapshots
	Schedules     Schedules
	Milestones    Milestones
	Targets       Targets
	Details       RepositoryDetails
	ImageEvents   ImageEvents
	CommentEvents CommentEvents
	Seals         Seals
	Keys          Keys
	Notifications Notifications
	SignIns       SignIns

	db     *database.DB
	recent *recentEvents
}

// New returns the store of a database.
func New(db *database.DB) *Store {
	return &Store{
		Deliveries: Deliveries{db}, Health: HealthRecords{db}, Snapshots: Snapshots{db}, Schedules: Schedules{db},
		Milestones: Milestones{db},
		Targets:    Targets{db}, Details: RepositoryDetails{db}, ImageEvents: ImageEvents{db}, CommentEvents: CommentEvents{db},
		Seals: Seals{db}, Keys: Keys{db}, Notifications: Notifications{db}, SignIns: SignIns{db}, db: db, recent: &recentEvents{},
	}
}

// storable returns text that both databases can store: PostgreSQL has no NUL and only
// UTF-8, and users and commits may contain anything.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// maxText limits texts of users and commits, in bytes.
const maxText = 4 << 10

// truncated returns storable text of limited length, without a partial character.
func truncated(text string) string {
	text = storable(text)
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// readRows reads the rows of a query, each with a function.
func readRows[T any](
	ctx context.Context, tx *database.Tx, read func(scan database.Scan, into *T) error, query string, args ...any,
) (all []T, err error) {
	err = tx.Query(ctx, func(scan database.Scan) error {
		var one T
		err := read(scan, &one)
		all = append(all, one)
		return err
	}, query, args...)
	return all, err
}

// viewRows is readRows in a transaction of its own.
func viewRows[T any](
	ctx context.Context, db *database.DB, read func(scan database.Scan, into *T) error, query string, args ...any,
) (all []T, err error) {
	err = db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		all, err = readRows(ctx, tx, read, query, args...)
		return err
	})
	return all, err
}

// readTexts reads a column of texts.
func readTexts(ctx context.Context, tx *database.Tx, query string, args ...any) ([]string, error) {
	return readRows(ctx, tx, func(scan database.Scan, into *string) error { return scan(into) }, query, args...)
}

// readPairs reads a column of keys and one of their values.
func readPairs[K comparable, V any](ctx context.Context, tx *database.Tx, query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	err := tx.Query(ctx, func(scan database.Scan) error {
		var key K
		var value V
		err := scan(&key, &value)
		all[key] = value
		return err
	}, query, args...)
	return all, err
}

// viewPairs is readPairs in a transaction of its own.
func viewPairs[K comparable, V any](ctx context.Context, db *database.DB, query string, args ...any) (all map[K]V, err error) {
	err = db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		all, err = readPairs[K, V](ctx, tx, query, args...)
		return err
	})
	return all, err
}

// viewOne reads the first row of a query into columns. Without a row, it returns a NotFound fault.
func viewOne(ctx context.Context, db *database.DB, columns []any, query string, args ...any) error {
	return db.View(ctx, func(ctx context.Context, tx *database.Tx) error { return tx.One(ctx, columns, query, args...) })
}

// viewOptional is viewOne for a row that may be missing: the columns are not changed then.
func viewOptional(ctx context.Context, db *database.DB, columns []any, query string, args ...any) error {
	err := viewOne(ctx, db, columns, query, args...)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// placeholders are those of some arguments, at least one.
func placeholders(n int) string { return "?" + strings.Repeat(", ?", n-1) }

// exec executes one statement in a transaction of its own.
func exec(ctx context.Context, db *database.DB, statement string, args ...any) error {
	return db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

// execEach executes a statement with rows as its last argument, for @elements, if there are rows.
func execEach[T any](ctx context.Context, tx *database.Tx, rows []T, statement string, args ...any) error {
	if len(rows) == 0 {
		return nil
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("store %T: %w", rows, err)
	}
	_, err = tx.Exec(ctx, statement, append(args, string(text))...)
	return err
}

// deleteBatch is how many rows one transaction deletes. On SQLite, other writers wait
// for it: some milliseconds.
const deleteBatch = 500

// aged is a table whose oldest rows are deleted: its columns are the primary key, and a time.
type aged struct{ table, key, at string }

// deleteMany deletes the oldest rows beyond a number.
func (a aged) deleteMany(ctx context.Context, db *database.DB, limit int64) (deleted int64, err error) {
	newest := "select " + a.at + " as at from " + a.table + " order by " + a.at + " desc limit 1 offset ?"
	return a.deleteFrom(ctx, db, "select coalesce(max(at), 0) from ("+newest+") as beyond", limit)
}

// deleteFrom finds with a query from which time on rows are beyond a limit, and deletes those
// and all before them. Finding them only reads, so that no writer waits for it.
func (a aged) deleteFrom(ctx context.Context, db *database.DB, query string, limit int64) (deleted int64, err error) {
	var newest time.Time
	if err := viewOne(ctx, db, []any{&newest}, query, limit); err != nil || newest.IsZero() {
		return 0, err
	}
	return a.deleteBefore(ctx, db, newest.Add(time.Microsecond))
}

// deleteBefore deletes the rows from before a time, some in each transaction, and returns their number.
func (a aged) deleteBefore(ctx context.Context, db *database.DB, before time.Time) (deleted int64, err error) {
	rows := "select " + a.key + " from " + a.table + " where " + a.at + " < ? order by " + a.at + " limit ?"
	statement := "delete from " + a.table + " where (" + a.key + ") in (" + rows + ")"
	for {
		var some int64
		err = db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
			some, err = tx.Exec(ctx, statement, before, deleteBatch)
			return err
		})
		deleted += some
		if err != nil || some < deleteBatch {
			return deleted, err
		}
		if ctx.Err() != nil {
			return deleted, context.Cause(ctx)
		}
	}
}
