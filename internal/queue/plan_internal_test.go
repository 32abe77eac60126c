package queue

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
)

// What a claim reads must not grow with the work that waits: a poll triggers all repositories.
func TestClaim_readsIndexesOnly(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for name, statement := range map[string]string{
		"begin": beginClaim, "waiting": waiting, "any": claimAny, "of a tenant": claimOfTenant, "until due": untilDue,
	} {
		arguments := make([]any, strings.Count(statement, "?"))
		for n := range arguments {
			arguments[n] = 1
		}
		err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return tx.Query(ctx, func(scan database.Scan) error {
				var id, parent, unused int
				var step string
				if err := scan(&id, &parent, &unused, &step); err != nil {
					return err
				}
				if strings.HasPrefix(step, "SCAN work") || strings.Contains(step, "TEMP B-TREE") {
					t.Errorf("%s: %s", name, step)
				}
				return nil
			}, "explain query plan "+statement, arguments...)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
