package schedule_test

import (
	"testing"
	"time"

	"promoter/internal/schedule"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 22, 16, 30, 0, 0, berlin) // a Thursday; summer time ends on Sunday
	for text, want := range map[string]string{
		"Sat 15:00":                 "2026-10-24T15:00:00+02:00",
		"saturday":                  "2026-10-24T00:00:00+02:00",
		"Thu 16:00":                 "2026-10-29T16:00:00+01:00",
		"Thu 17:00":                 "2026-10-22T17:00:00+02:00",
		"thu":                       "2026-10-29T00:00:00+01:00",
		"15:00":                     "2026-10-23T15:00:00+02:00",
		"18:15:30":                  "2026-10-22T18:15:30+02:00",
		"2026-12-24":                "2026-12-24T00:00:00+01:00",
		"2026-12-24 18:00":          "2026-12-24T18:00:00+01:00",
		"2026-12-24T18:00":          "2026-12-24T18:00:00+01:00",
		"2026-12-24T18:00:00Z":      "2026-12-24T18:00:00Z",
		"+36h":                      "2026-10-24T04:30:00+02:00",
		"3d":                        "2026-10-25T15:30:00+01:00", // elapsed time
		"2020-01-01":                "2020-01-01T00:00:00+01:00",
		"2026-12-24T18:00:00+05:30": "2026-12-24T18:00:00+05:30",
	} {
		got, err := schedule.ParseMoment(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v, want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "soon", "Sat 25:00", "Sat 3pm", "24.12.2026", "Someday 10:00", "2026-13-01"} {
		if got, err := schedule.ParseMoment(text, now); err == nil {
			t.Errorf("%q: %s, want an error", text, got)
		}
	}
}
