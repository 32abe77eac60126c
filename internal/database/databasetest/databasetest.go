package databasetest

import (
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/secret"
)

// Kind is one kind of database. A test that opens it twice by the same options
// opens the same one twice.
type Kind struct {
	Name string
	// New returns the options of an empty database.
	New func(t testing.TB) database.Options
}

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{{"SQLite", newSQLite}, {"PostgreSQL", newPostgreSQL}}
}

// Each runs the test on every kind of database.
func Each(t *testing.T, test func(t *testing.T, kind Kind)) {
	t.Helper()
	for _, kind := range Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// Open opens a database for the time of the test.
func Open(t testing.TB, o database.Options) *database.DB {
	t.Helper()
	db, err := database.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing the database: %v", err)
		}
	})
	return db
}

func newSQLite(t testing.TB) database.Options {
	return database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now} //nolint:forbidigo // tests hand the clock in
}

func newPostgreSQL(t testing.TB) database.Options {
	return database.Options{URL: secret.New(newSchema(t))}
}
