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

	_ "modernc.org/sqlite" // the driver "sqlite"

	"promoter/internal/fault"
)

// sqliteName is what DB.Name says of an SQLite file.
const sqliteName = "SQLite"

// How an SQLite file is opened (https://www.sqlite.org/pragma.html). In WAL mode
// readers never wait for the writer; "full" flushes the log with every commit; the
// timeout, in milliseconds, is how long somebody else's lock is waited for, of a
// backup for instance.
var (
	writerSettings = url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"auto_vacuum(incremental)", "busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)", "journal_size_limit(67108864)"},
	}
	readerSettings = url.Values{
		"mode":    {"ro"},
		"_pragma": {"busy_timeout(5000)", "query_only(on)"},
	}
)

// readers is how many may read an SQLite file at once.
const readers = 4

func openSQLite(ctx context.Context, path string, now func() time.Time) (_ *DB, err error) {
	path, err = prepareFile(path)
	if err != nil {
		return nil, err
	}
	d := &DB{words: sqliteDialect(), now: now, explain: explainSQLite(path)}
	d.batches = startBatcher(d.together)
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	if err := d.own(ctx, path); err != nil {
		return nil, err
	}
	if err := d.openWriter(ctx, path); err != nil {
		return nil, err
	}
	return d, d.openReaders(ctx, path)
}

// prepareFile makes the file and its folder, for its owner alone, and returns the
// absolute path.
func prepareFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fault.New(fault.Invalid, "the database file %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", unwritable(path, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", unwritable(path, err)
	}
	return path, file.Close()
}

func unwritable(path string, err error) error {
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	return fault.New(fault.Invalid, "the database file %s can not be opened for writing: %w; "+
		"give promoter a folder that it may write", path, cause)
}

// address is the URI of an SQLite file (https://www.sqlite.org/uri.html).
func address(path string, settings url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/folder
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: settings.Encode()}).String()
}

// openWriter opens the one connection that writes.
func (d *DB) openWriter(ctx context.Context, path string) error {
	conn, err := d.single(ctx, address(path, writerSettings))
	if err != nil {
		return err
	}
	writer := &remembering{conn: conn, known: map[string]*sql.Stmt{}}
	d.closing = append(d.closing, writer.close)
	d.begin = func(ctx context.Context) (transaction, error) {
		return writer.begin(ctx)
	}
	return d.checkFile(ctx, path, conn)
}

// single opens a handle that is one connection, to be closed with the database.
func (d *DB) single(ctx context.Context, address string) (*sql.Conn, error) {
	handle, err := sql.Open("sqlite", address)
	if err != nil {
		return nil, d.explain(ctx, err)
	}
	d.closing = append(d.closing, handle.Close)
	conn, err := handle.Conn(ctx)
	if err != nil {
		return nil, d.explain(ctx, err)
	}
	d.closing = append(d.closing, conn.Close)
	return conn, nil
}

func (d *DB) openReaders(ctx context.Context, path string) error {
	handle, err := sql.Open("sqlite", address(path, readerSettings))
	if err != nil {
		return d.explain(ctx, err)
	}
	handle.SetMaxOpenConns(readers)
	handle.SetMaxIdleConns(readers)
	d.read = handle
	d.closing = append(d.closing, handle.Close)
	return nil
}
