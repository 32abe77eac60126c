package databasetest

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // and "sqlite"

	"promoter/internal/database"
)

// Bare is the least that makes a delivery durable: a row in a table of its own, in
// transactions that everybody who waits shares, written by hand and without any of
// this project's code. Benchmarks are compared with it.
type Bare struct {
	db      *sql.DB
	conn    *sql.Conn
	insert  *sql.Stmt
	begin   string
	waiting chan row
	ended   sync.WaitGroup
}

// row is one that somebody waits for.
type row struct {
	id     string
	body   []byte
	result chan error
}

// maxWaiting is how many rows may wait for a transaction at once.
const maxWaiting = 256

// OpenBare opens an empty database of either kind.
func OpenBare(ctx context.Context, o database.Options) (*Bare, error) {
	driver, address, begin := "pgx", o.URL.Reveal(), "begin"
	table := "create table bare (id text primary key, body bytea not null, received_at bigint not null)"
	insert := "insert into bare (id, body, received_at) values ($1, $2, $3)"
	if o.Path != "" {
		driver, begin = "sqlite", "begin immediate"
		address = "file:" + o.Path + "?" + url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)"}}.Encode()
		insert = strings.NewReplacer("$1", "?", "$2", "?", "$3", "?").Replace(insert)
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return nil, err
	}
	prepared, err := conn.PrepareContext(ctx, insert)
	if err != nil {
		return nil, err
	}
	b := &Bare{db: db, conn: conn, insert: prepared, begin: begin, waiting: make(chan row, maxWaiting)}
	b.ended.Go(b.run)
	return b, nil
}

// Keep returns when the row is on the disk.
func (b *Bare) Keep(id string, body []byte) error {
	mine := row{id: id, body: body, result: make(chan error, 1)}
	b.waiting <- mine
	return <-mine.result
}

// Close ends it. Nobody waits any more.
func (b *Bare) Close() error {
	close(b.waiting)
	b.ended.Wait()
	return b.db.Close()
}

func (b *Bare) run() {
	defer func() { _ = b.conn.Close() }()
	for first := range b.waiting {
		group := []row{first}
		for len(b.waiting) > 0 {
			group = append(group, <-b.waiting)
		}
		err := b.commit(group)
		for _, one := range group {
			one.result <- err
		}
	}
}

func (b *Bare) commit(group []row) error {
	ctx := context.Background()
	if _, err := b.conn.ExecContext(ctx, b.begin); err != nil {
		return err
	}
	for _, one := range group {
		if _, err := b.insert.ExecContext(ctx, one.id, one.body, time.Now().UnixMicro()); err != nil { //nolint:forbidigo // support code of tests
			return err
		}
	}
	_, err := b.conn.ExecContext(ctx, "commit")
	return err
}
