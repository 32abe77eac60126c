package database

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"promoter/internal/fault"
)

const sqliteName = "SQLite"

// How the file is opened (https://www.sqlite.org/pragma.html). With WAL, readers never
// wait for the writer. synchronous=full flushes the log with every commit. The busy
// timeout, in milliseconds, applies to locks of other programs, for instance a backup.
var (
	writerSettings = url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			"auto_vacuum(incremental)", "busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)",
			"journal_size_limit(67108864)",
		},
	}
	readerSettings = url.Values{
		"mode":    {"ro"},
		"_pragma": {"busy_timeout(5000)", "query_only(on)"},
	}
)

// maxReaders is the number of connections that read.
const maxReaders = 4

func openSQLite(ctx context.Context, path string, now func() time.Time) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the database file %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unwritable(path, err)
	}
	if err := createFile(path); err != nil {
		return nil, err
	}
	d := &DB{dialect: sqliteDialect(), now: now, explain: explainSQLite(path), turn: make(chan struct{}, 1)}
	d.explain = d.noting(d.explain, func(err error) bool {
		code := sqliteCode(err)
		return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
	})
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	if err := d.lockFile(ctx, path); err != nil {
		return nil, err
	}
	if d.write, err = d.openHandle(ctx, fileURI(path, writerSettings), 1); err != nil {
		return nil, err
	}
	if err := d.checkFile(ctx, path); err != nil {
		return nil, err
	}
	if d.present, err = presence(path); err != nil {
		return nil, err
	}
	d.read, err = d.openHandle(ctx, fileURI(path, readerSettings), maxReaders)
	return d, err
}

// presence returns a function that fails when the file is not the one that is open:
// SQLite writes on to a file that was deleted, and everything is lost with the process.
func presence(path string) (func() error, error) {
	opened, err := os.Stat(path)
	if err != nil {
		return nil, unwritable(path, err)
	}
	return func() error {
		now, err := os.Stat(path)
		if err == nil && os.SameFile(opened, now) {
			return nil
		}
		return fault.New(fault.Internal, "the database file %s was deleted or replaced while promoter uses it: restart promoter", path)
	}, nil
}

// createFile creates a file for its owner only, unless it exists.
func createFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return unwritable(path, err)
	}
	return nil
}

func unwritable(path string, err error) error {
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	return fault.New(fault.Invalid, "cannot open the database file %s for writing: %w; "+
		"choose a directory that promoter can write to", path, cause)
}

// fileURI is the URI of an SQLite file (https://www.sqlite.org/uri.html).
func fileURI(path string, settings url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/folder
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: settings.Encode()}).String()
}

// openHandle opens a pool of connections that stay open, and closes it with the
// database.
func (d *DB) openHandle(ctx context.Context, uri string, connections int) (*sql.DB, error) {
	handle, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, d.explain(ctx, err)
	}
	d.closing = append(d.closing, handle.Close)
	handle.SetMaxOpenConns(connections)
	handle.SetMaxIdleConns(connections)
	return handle, nil
}

// lockFile reserves the SQLite file for this process: leases of work are released when
// the file is opened, so a second process would repeat everything. The lock is an
// exclusive transaction on an empty file beside it, which the operating system
// releases when the process ends, even if it is killed.
func (d *DB) lockFile(ctx context.Context, path string) error {
	lock := path + ".lock"
	if err := createFile(lock); err != nil {
		return err
	}
	handle, err := d.openHandle(ctx, fileURI(lock, url.Values{"_pragma": {"busy_timeout(0)"}}), 1)
	if err != nil {
		return err
	}
	conn, err := handle.Conn(ctx)
	if err != nil {
		return d.explain(ctx, err)
	}
	d.closing = append(d.closing, conn.Close)
	_, err = conn.ExecContext(ctx, "begin exclusive")
	if code := sqliteCode(err); code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED {
		return fault.New(fault.Conflict, "another promoter process uses the database file %s; "+
			"an SQLite file serves one process: stop the other process, or use PostgreSQL for several replicas", path)
	}
	return d.explain(ctx, err)
}

// checkTimeout limits the check for damage: it covers a file of about 100 MB, and only
// the beginning of a larger one, so that the service starts within a second.
const checkTimeout = 300 * time.Millisecond

// checkFile refuses a file that is damaged or belongs to another program.
func (d *DB) checkFile(ctx context.Context, path string) error {
	tables, ours := 0, 0
	const count = "select count(*), count(case when name = 'schema_version' then 1 end) from sqlite_master where type = 'table'"
	if err := d.write.QueryRowContext(ctx, count).Scan(&tables, &ours); err != nil {
		return d.explain(ctx, err)
	}
	if tables > 0 && ours == 0 {
		return fault.New(fault.Invalid,
			"the database file %s belongs to another program: it has %d tables, and none is promoter's; "+
				"configure another path", path, tables)
	}
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	result := ""
	err := d.write.QueryRowContext(limited, "pragma quick_check(1)").Scan(&result)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil
	case err != nil:
		return d.explain(ctx, err)
	case result != "ok":
		return fault.New(fault.Invalid, "the database file %s %s: %s", path, damaged, result)
	}
	return nil
}

// sqliteCode returns the primary result code of an error, 0 if it is not SQLite's
// (https://www.sqlite.org/rescode.html).
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// explainSQLite returns a function that turns errors of SQLite into faults that say
// what to do.
func explainSQLite(path string) func(context.Context, error) error {
	return func(ctx context.Context, err error) error {
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fault.New(fault.Temporary, "the database file %s: %w", path, context.Cause(ctx))
		}
		if e, ok := errors.AsType[*sqlite.Error](err); ok &&
			(e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY) {
			return fault.New(fault.Conflict, "the row already exists: %w", err)
		}
		kind, what := describeSQLite(sqliteCode(err))
		return fault.New(kind, "the database file %s %s: %w", path, what, err)
	}
}

func describeSQLite(code int) (kind fault.Kind, what string) {
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return fault.Temporary, "is locked by another program, for instance a backup or a shell; " +
			"nothing is written until the lock is released"
	case sqlite3.SQLITE_FULL:
		return fault.Temporary, "cannot grow: the disk is full; free some space, nothing is accepted until then"
	case sqlite3.SQLITE_IOERR:
		return fault.Temporary, "cannot be read or written: the disk failed"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return fault.Invalid, "or its directory is not writable; grant promoter write permission"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Invalid, damaged
	default:
		return fault.Internal, "refused a statement"
	}
}

const damaged = "is damaged or not an SQLite database; stop promoter, move the file away, and " +
	"restore a backup or start without one: promotions and user decisions are in Git, only history is lost"
