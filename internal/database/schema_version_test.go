package database_test

import (
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// Tables are read and not created.
func TestSchemaVersion_readsWithoutMigrating(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		options := kind.New(t)
		if options.URL.IsZero() {
			return // SQLite is never asked
		}
		for range 2 {
			if at, known, err := database.SchemaVersion(t.Context(), options.URL); at != 0 || known == 0 || err != nil {
				t.Fatalf("an empty database: %d of %d, %v", at, known, err)
			}
		}
		databasetest.Open(t, options)
		if at, known, err := database.SchemaVersion(t.Context(), options.URL); at != known || err != nil {
			t.Errorf("after the first opening: %d of %d, %v", at, known, err)
		}
	})
}
