package service

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// A clock that differs from the database's is logged; a small difference is not.
func TestLogClockSkew(t *testing.T) {
	t.Parallel()
	kind := databasetest.Kinds()[1]
	at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	o := kind.New(t) // skips without PostgreSQL
	o.Now = func() time.Time { return at }
	db := databasetest.Open(t, o)
	for ahead, want := range map[time.Duration]string{
		-2 * time.Minute: "ahead=-2m0s", 9 * time.Second: "", 0: "", time.Hour: "ahead=1h0m0s",
	} {
		var log strings.Builder
		logClockSkew(t.Context(), db, func() time.Time { return at.Add(ahead) }, slog.New(slog.NewTextHandler(&log, nil)))
		if got := log.String(); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%v ahead: %q", ahead, got)
		}
	}
}
