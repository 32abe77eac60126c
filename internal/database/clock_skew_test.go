package database_test

import (
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

func TestClockSkew_isKnownOnlyBeyondTheQueryTime(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
		o := kind.New(t)
		o.Now = func() time.Time { return at }
		db := databasetest.Open(t, o)
		for _, off := range []time.Duration{0, time.Hour, -time.Hour} {
			want := off
			if db.SingleProcess() {
				want = 0
			}
			got, err := db.ClockSkew(t.Context(), func() time.Time { return at.Add(off) })
			if err != nil || got != want {
				t.Errorf("a clock that is %v ahead: %v, %v", off, got, err)
			}
		}
		slow := at.Add(-2 * time.Minute)
		got, err := db.ClockSkew(t.Context(), func() time.Time { slow = slow.Add(time.Minute); return slow.Add(30 * time.Second) })
		if err != nil || got != 0 {
			t.Errorf("a question that took a minute: %v, %v", got, err)
		}
	})
}
