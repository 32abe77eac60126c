package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Limits of the connections to a PostgreSQL server.
const (
	maxConnections     = 16
	idleTime           = time.Minute // to open a connection takes longer than most transactions
	connectTimeout     = 10 * time.Second
	connectionLifetime = 30 * time.Minute // so that a server that moved is found
	transactionTimeout = 30 * time.Second
	oldestServer       = 120000 // 12, the first version with "as materialized"
)

// sessionSettings apply to each connection, in one round trip. A server that confirms
// commits before it flushes is set to flush; a stricter setting stays. The timeouts
// end waits for locks, and transactions of replicas that vanished.
const sessionSettings = `select
	set_config('lock_timeout', '5s', false),
	set_config('idle_in_transaction_session_timeout', '30s', false),
	set_config('synchronous_commit',
		case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`

// openPostgreSQL opens a pool of connections. The file of the URL may be replaced: each new
// connection logs in as the URL then says, to the same server and database.
func openPostgreSQL(ctx context.Context, address secret.String, now func() time.Time) (*DB, error) {
	parse := func(from []secret.String) (*pgx.ConnConfig, error) { return parseURL(from[0]) }
	present, err := secret.Derive("database.url", parse, address)
	if err != nil {
		return nil, err
	}
	config := present.Value()
	settings := stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sessionSettings)
		return err
	})
	login := stdlib.OptionBeforeConnect(func(_ context.Context, next *pgx.ConnConfig) error {
		as := present.Value()
		next.User, next.Password = as.User, as.Password
		return nil
	})
	pool := stdlib.OpenDB(*config, settings, login)
	pool.SetMaxOpenConns(maxConnections)
	pool.SetMaxIdleConns(maxConnections)
	pool.SetConnMaxIdleTime(idleTime)
	pool.SetConnMaxLifetime(connectionLifetime)
	d := &DB{
		dialect: postgresDialect(now == nil), now: now, explain: explainPostgres(config), ended: connectionEnded,
		read: pool, write: pool, timeout: transactionTimeout, closing: []func() error{pool.Close},
	}
	d.explain = d.noting(d.explain, func(err error) bool {
		refused, ok := errors.AsType[*pgconn.PgError](err)
		return ok && (refused.Code == "XX001" || refused.Code == "XX002") // data_corrupted, index_corrupted
	})
	version, name := 0, ""
	err = pool.QueryRowContext(ctx,
		"select current_setting('server_version_num')::int, current_setting('server_version')").Scan(&version, &name)
	if err = d.explain(ctx, err); err == nil && version < oldestServer {
		err = fault.New(fault.Invalid, "the database server is PostgreSQL %s; promoter needs 12 or newer", name)
	}
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// parseURL parses the URL. The error of the parser contains the URL with its password,
// so it is not wrapped.
func parseURL(address secret.String) (*pgx.ConnConfig, error) {
	text := address.Reveal()
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return nil, fault.New(fault.Invalid, "the database URL does not begin with postgres://")
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		const example = "postgres://user:password@host:5432/database?sslmode=verify-full"
		return nil, fault.New(fault.Invalid, "the database URL cannot be parsed; it looks like %s, "+
			"with %%-escapes for characters like @ and / in the password, and the files it names must exist", example)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "promoter"
	}
	return config, nil
}

// explainPostgres returns a function that turns errors of the server into faults that
// name host, database, and user, and contain the fix. Errors of the driver contain its
// configuration with the password, so only their text is used.
func explainPostgres(config *pgx.ConnConfig) func(context.Context, error) error {
	where := fmt.Sprintf("the database %s on %s:%d, as user %s", config.Database, config.Host, config.Port, config.User)
	return func(ctx context.Context, err error) error {
		refused, ok := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil:
			return nil
		case ok && (refused.Code == "40001" || refused.Code == "40P01"): // serialization failure, deadlock
			return fault.New(fault.Conflict, "%s: %s: %w", where, refused.Message, errSerialization)
		case ok && refused.Code == "23505":
			return fault.New(fault.Conflict, "the row already exists: %s", refused.Message)
		case ok:
			kind, what := describePostgres(refused.Code)
			return fault.New(kind, "%s: %s: %s (SQLSTATE %s)", where, what, refused.Message, refused.Code)
		case ctx.Err() != nil:
			return fault.New(fault.Temporary, "%s, did not respond in time: %w", where, context.Cause(ctx))
		default:
			lines := strings.Split(strings.TrimSpace(err.Error()), "\n") // one for each address
			return fault.New(fault.Temporary, "%s, cannot be reached: %s; a running promoter retries, one that is starting exits",
				where, strings.TrimSpace(lines[len(lines)-1]))
		}
	}
}

// connectionEnded reports whether the beginning of a transaction failed because the server, or
// something on the way to it, had ended the connection, and not because a new one cannot be opened.
func connectionEnded(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code == "57P01" || refused.Code == "57P02" // it shut down, or crashed, meanwhile
	}
	_, unreachable := errors.AsType[*pgconn.ConnectError](err)
	return !unreachable
}

// describePostgres explains an error code. Its first two characters are its class
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func describePostgres(code string) (kind fault.Kind, what string) {
	switch code {
	case "28P01", "28000":
		return fault.Unauthorized, "the server does not accept the user or the password; correct the URL"
	case "3D000":
		return fault.Invalid, "the database does not exist; create it"
	case "3F000", "42501":
		return fault.Unauthorized, "the user lacks a permission; make it the owner of the database or its schema"
	case "25006":
		return fault.Temporary, "the server is read-only, perhaps a standby; connect to the primary, or add target_session_attrs=read-write"
	case "53100":
		return fault.Temporary, "the server's disk is full; free some space, nothing is accepted until then"
	case "55P03":
		return fault.Temporary, "another session holds a lock"
	}
	switch code[:min(2, len(code))] {
	case "08", "53", "57", "58":
		return fault.Temporary, "the server is unavailable; a running promoter retries, one that is starting exits"
	default:
		return fault.Internal, "the server refused a statement"
	}
}
