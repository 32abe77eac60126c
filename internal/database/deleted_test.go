package database_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// SQLite writes on to a file that was deleted: nothing would be there after a restart.
func TestHealthy_failsWhenTheFileIsDeletedOrReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "promoter.db")
	db := databasetest.Open(t, database.Options{Path: path, Now: time.Now})
	if err := db.Healthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		if replace {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Healthy(t.Context()); err == nil || !strings.Contains(err.Error(), "was deleted or replaced") {
			t.Errorf("replaced: %t: %v", replace, err)
		}
	}
}
