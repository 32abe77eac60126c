package schedule_test

import (
	"testing"
	"time"

	"promoter/internal/schedule"
)

func TestParseEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 13, 0, 0, 500, time.UTC) // a Saturday
	for text, want := range map[string]string{
		"2026-12-24":                "2026-12-24T00:00:00Z",
		"2026-12-24T18:00:00+01:00": "2026-12-24T17:00:00Z",
		"3d":                        "2026-11-24T13:00:00Z",
		"90m":                       "2026-11-21T14:30:00Z",
		"Mon 09:00":                 "2026-11-23T09:00:00Z",
	} {
		if got, err := schedule.ParseEnd(text, now); err != nil || got.Format(time.RFC3339) != want || got.Nanosecond() != 0 {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	if got, err := schedule.ParseEnd("", now); got != nil || err != nil {
		t.Errorf("no end: %v, %v", got, err)
	}
	for _, text := range []string{"tomorrow", "2026-11-20", "-1h", "2026-13-01", " "} {
		if got, err := schedule.ParseEnd(text, now); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
