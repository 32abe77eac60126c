package database

import (
	"context"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Options say which database to open. One of Path and URL is given.
type Options struct {
	// Path is the SQLite file. It is made when it is absent, readable by its owner
	// alone. Beside it lie the files that SQLite makes and one named
	// PATH.lock, which keeps a second process away.
	Path string
	// URL is a PostgreSQL server: postgres://user:password@host/database. It may
	// have the parameters that libpq knows, sslmode for instance.
	URL secret.String
	// Now is the clock. SQLite needs one; on PostgreSQL the server's clock is used
	// when it is absent, so that all replicas agree on the time.
	Now func() time.Time
	// CommitHook, where it is there, stands around every commit of Update and Batch.
	CommitHook CommitHook
}

// Open opens the database, brings its tables up to date, and refuses one that a
// newer release has changed. The caller closes it.
func Open(ctx context.Context, o Options) (*DB, error) {
	db, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := db.migrate(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	db.around = o.CommitHook
	return db, nil
}

func (o Options) open(ctx context.Context) (*DB, error) {
	switch {
	case (o.Path == "") == o.URL.IsZero():
		return nil, fault.New(fault.Invalid, "name the database by a path or by a URL, and not by both")
	case o.Path != "" && o.Now == nil:
		return nil, fault.New(fault.Internal, "an SQLite database was opened without a clock")
	case o.Path != "":
		return openSQLite(ctx, o.Path, o.Now)
	default:
		return openPostgreSQL(ctx, o.URL, o.Now)
	}
}
