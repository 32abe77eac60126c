package database

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Bounds of the connections to a PostgreSQL server.
const (
	connections    = 16
	idle           = 4
	connectTimeout = 10 * time.Second
	lifetime       = 30 * time.Minute // so that a server that moved is found
	silence        = 30 * time.Second // of a server in a batch
	oldestServer   = 120000           // 12, the first one whose "with" can be told to run once
)

// settings of each connection, in one question. A server that answers before it has
// flushed is asked to flush; a stricter setting stays. A lock that nobody lets go,
// and a replica that vanished within a transaction, hold others up for that long.
const settings = `select
	set_config('lock_timeout', '5s', false),
	set_config('idle_in_transaction_session_timeout', '30s', false),
	set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`

func openPostgreSQL(ctx context.Context, address secret.String, now func() time.Time) (*DB, error) {
	config, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, settings)
		return err
	}))
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(idle)
	pool.SetConnMaxLifetime(lifetime)
	d := &DB{
		words: postgresDialect(now == nil), now: now, explain: explainPostgres(config), silence: silence,
		read: pool, write: pool, closing: []func() error{pool.Close},
	}
	d.begin = d.beginPooled
	d.batches = startBatcher(d.together)
	if err := d.checkServer(ctx); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// parseAddress reads the URL. The parser's own error holds the URL with its
// password, so it goes no further.
func parseAddress(address secret.String) (*pgx.ConnConfig, error) {
	written := address.Reveal()
	if !strings.HasPrefix(written, "postgres://") && !strings.HasPrefix(written, "postgresql://") {
		return nil, fault.New(fault.Invalid, "the database URL does not begin with postgres://")
	}
	config, err := pgx.ParseConfig(written)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the database URL can not be read; it looks like "+
			"postgres://user:password@host:5432/database?sslmode=verify-full, with %%-escapes for signs like @ and / in the password, "+
			"and the files it names have to be there")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "promoter"
	}
	return config, nil
}

// beginPooled begins the transaction of a batch. Its statements have no context that
// can end, which would cost each of them a goroutine: a server that does not answer
// loses the connection instead.
func (d *DB) beginPooled(ctx context.Context) (_ transaction, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return transaction{}, err
	}
	cut := func() {}
	if err := conn.Raw(func(driver any) error { cut = cutter(driver); return nil }); err != nil {
		return transaction{}, errors.Join(err, conn.Close())
	}
	over := time.AfterFunc(d.silence, cut)
	end := func(of func() error) func() error {
		return func() error {
			defer func() {
				over.Stop()
				_ = conn.Close() // it goes back to the pool
			}()
			return of()
		}
	}
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return transaction{}, end(func() error { return err })()
	}
	return transaction{querier: tx, commit: end(tx.Commit), rollback: end(tx.Rollback)}, nil
}

// cutter returns what cuts the connection of a driver.
func cutter(driver any) func() {
	conn, ok := driver.(*stdlib.Conn)
	if !ok {
		return func() {}
	}
	return func() { _ = conn.Conn().PgConn().Conn().Close() }
}

// checkServer refuses a server that is too old.
func (d *DB) checkServer(ctx context.Context) error {
	version, name := 0, ""
	err := d.read.QueryRowContext(ctx, "select current_setting('server_version_num')::int, current_setting('server_version')").
		Scan(&version, &name)
	if err != nil {
		return d.explain(ctx, err)
	}
	if version < oldestServer {
		return fault.New(fault.Invalid, "the database server is PostgreSQL %s; promoter needs 12 or newer", name)
	}
	return nil
}
