package store

import (
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
	query, args := HistoryFilter{Limit: 10}.selectByTime()
	plan := planOf(t, db, true, query, args)
	for _, want := range []string{"SEARCH event USING INDEX history_at (at>? AND at<?)", "INDEX history_snapshot (repository=? AND environment=? AND application=? AND snapshot=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in\n%s", want, plan)
		}
	}
	if strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("it sorts:\n%s", plan)
	}
}
