package store

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
)

// The pull request of a landing is found by its snapshot: a place may have any number of
// events, and a page any number of landings. A later page is no longer way than the first.
// SQLite says how it would look.
func TestSelectEvents_plan(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var plan strings.Builder
	err = db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var id, parent, unused int
			var step string
			err := scan(&id, &parent, &unused, &step)
			plan.WriteString(step + "\n")
			return err
		}, "explain query plan "+selectEvents, make([]any, strings.Count(selectEvents, "?"))...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SEARCH event USING INDEX history_at (at>? AND at<?)", "INDEX history_snapshot (repository=? AND environment=? AND application=? AND snapshot=?)"} {
		if !strings.Contains(plan.String(), want) {
			t.Errorf("no %q in\n%s", want, plan.String())
		}
	}
	if strings.Contains(plan.String(), "TEMP B-TREE") {
		t.Errorf("it sorts:\n%s", plan.String())
	}
}
