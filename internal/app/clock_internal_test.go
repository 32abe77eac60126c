package app

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// A clock that is not the database's is told, and one that nearly is, is not.
func TestTellClock(t *testing.T) {
	t.Parallel()
	kind := databasetest.Kinds()[1]
	at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	o := kind.New(t) // skips where there is no PostgreSQL
	o.Now = func() time.Time { return at }
	db := databasetest.Open(t, o)
	for ahead, want := range map[time.Duration]string{
		-2 * time.Minute: "ahead=-2m0s", 9 * time.Second: "", 0: "", time.Hour: "ahead=1h0m0s",
	} {
		var log strings.Builder
		now := func() time.Time { return at.Add(ahead) }
		s := &service{now: now, ServeOptions: ServeOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}, db: db}
		s.tellClock(t.Context())
		if said := log.String(); (want == "") != (said == "") || !strings.Contains(said, want) {
			t.Errorf("%v ahead: %q", ahead, said)
		}
	}
}
