package database

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"promoter/internal/fault"
)

// sqliteCode is the primary result code of an error, 0 for one that is not SQLite's
// (https://www.sqlite.org/rescode.html).
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	code := sqliteCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// explainSQLite returns what makes faults of SQLite's errors, for the file.
func explainSQLite(path string) func(context.Context, error) error {
	return func(ctx context.Context, err error) error {
		switch code := sqliteCode(err); {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fault.New(fault.Temporary, "the database file %s: %w", path, context.Cause(ctx))
		case code == sqlite3.SQLITE_CONSTRAINT && isUnique(err):
			return fault.New(fault.Conflict, "the database has it already: %w", err)
		default:
			kind, what := sqliteWords(code)
			return fault.New(kind, "the database file %s %s: %w", path, what, err)
		}
	}
}

func isUnique(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// sqliteWords says what a code means and what to do.
func sqliteWords(code int) (kind fault.Kind, what string) {
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return fault.Temporary, "is locked by another program, a backup or a shell for instance; nothing is written until it lets go"
	case sqlite3.SQLITE_FULL:
		return fault.Temporary, "can not grow: the disk is full; make room, nothing is accepted until then"
	case sqlite3.SQLITE_IOERR:
		return fault.Temporary, "can not be read or written: the disk failed"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return fault.Invalid, "or its folder may not be written; give promoter the right to"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Invalid, damage
	default:
		return fault.Internal, "refused a statement"
	}
}

// damage says what to do about a damaged file.
const damage = "is damaged or is no SQLite database; stop promoter, keep the file aside, and " +
	"put a backup in its place or start with none: promotions and what people decided are in Git, only history is lost"
