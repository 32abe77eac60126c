package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestNewWindow_refuses(t *testing.T) {
	t.Parallel()
	cron := func(expression string) Spec { return Spec{Kind: Allow, Schedule: expression, Duration: time.Hour} }
	for _, test := range []struct {
		spec Spec
		want string
	}{
		{Spec{Schedule: "0 9 * * *", Duration: time.Hour}, "neither allow nor deny"},
		{Spec{Kind: "block", From: "2026-01-01"}, "neither allow nor deny"},
		{Spec{Kind: Allow}, "needs schedule and duration, or from and until"},
		{Spec{Kind: Allow, Schedule: "0 9 * * *"}, "needs a duration"},
		{Spec{Kind: Allow, Duration: time.Hour}, "needs a schedule"},
		{Spec{Kind: Allow, Schedule: "0 9 * * *", Duration: -time.Hour}, "needs a duration"},
		{Spec{Kind: Allow, Schedule: "0 9 * * *", Duration: 367 * day}, "at most 366d"},
		{Spec{Kind: Allow, Schedule: "0 9 * * *", Duration: time.Hour, From: "2026-01-01"}, "not both"},
		{Spec{Kind: Allow, Duration: time.Hour, Until: "2026-01-01"}, "not both"},
		{cron("0 9 * *"), "five cron fields"},
		{cron("0 0 9 * * *"), "five cron fields"},
		{cron("@daily"), "five cron fields"},
		{cron("@every 1h"), "five cron fields"},
		{cron("TZ=Asia/Tokyo 0 9 * * *"), "five cron fields"},
		{cron("CRON_TZ=Asia/Tokyo 0 9 * * *"), "five cron fields"},
		{cron("TZ=0"), "five cron fields"},
		{cron("60 9 * * *"), "five cron fields"},
		{cron("0 9 * * 8"), "five cron fields"},
		{cron("*/0 9 * * *"), "five cron fields"},
		{cron("0 0 30 2 *"), "never comes"},
		{cron("0 0 31 4,6,9,11 *"), "never comes"},
		{cron(strings.Repeat("1,", 200) + "1 * * * *"), "five cron fields"},
		{Spec{Kind: Deny, From: "2026-12-21", Until: "2026-12-20"}, "until is before from"},
		{Spec{Kind: Deny, From: "2026-12-21T10:00:00Z", Until: "2026-12-21T10:00:00Z"}, "until is before from"},
		{Spec{Kind: Deny, From: "21.12.2026"}, "from \"21.12.2026\" is not a day"},
		{Spec{Kind: Deny, Until: "2026-02-30"}, "until \"2026-02-30\" is not a day"},
		{Spec{Kind: Deny, From: "2026-12-21 10:00"}, "is not a day"},
		{Spec{Kind: Deny, From: "2026-01-01", TimeZone: "Europe/Berlim"}, "is not known"},
		{Spec{Kind: Deny, From: "2026-01-01", TimeZone: "../etc/passwd"}, "is not known"},
		{Spec{Kind: Deny, From: "2026-01-01", TimeZone: "Local"}, "depends on the machine"},
	} {
		_, err := NewWindow("w", test.spec)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.spec, err, test.want)
		}
	}
}

func TestNewWindow_oneDay(t *testing.T) {
	t.Parallel()
	w := mustWindow(t, "day", Spec{Kind: Allow, From: "2026-12-24", Until: "2026-12-24", TimeZone: "UTC"})
	for now, want := range map[string]bool{
		"2026-12-23T23:59:59Z": false, "2026-12-24T00:00:00Z": true, "2026-12-24T23:59:59Z": true, "2026-12-25T00:00:00Z": false,
	} {
		if got := (Windows{w}).State(clock(t, now)).Open; got != want {
			t.Errorf("%s: %v", now, got)
		}
	}
}

// Days do not begin at midnight in every zone.
func TestStartOfDay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ zone, day, want string }{
		{"Europe/Berlin", "2026-03-29", "2026-03-29T00:00:00+01:00"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"}, // 00:00 was skipped
		{"Africa/Cairo", "2026-04-24", "2026-04-24T01:00:00+03:00"},
		{"America/Havana", "2026-11-01", "2026-11-01T00:00:00-04:00"},  // 00:00 came twice
		{"Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00+00:00"}, // 00:00 came twice
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"},    // the day was skipped
		{"Asia/Kathmandu", "2026-06-01", "2026-06-01T00:00:00+05:45"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		date, err := time.Parse(time.DateOnly, test.day)
		if err != nil {
			t.Fatal(err)
		}
		if got := startOfDay(date, zone); !got.Equal(clock(t, test.want)) {
			t.Errorf("%s in %s begins at %v, want %s", test.day, test.zone, got, test.want)
		}
	}
}

func FuzzWindow(f *testing.F) {
	f.Add("0 9 * * 1-4", int64(7*time.Hour), "", "", "Europe/Berlin", int64(1_790_000_000))
	f.Add("*/7 */5 1-31/2 * *", int64(time.Hour), "", "", "Australia/Lord_Howe", int64(1_775_318_400))
	f.Add("0 0 29 2 *", int64(time.Nanosecond), "", "", "", int64(0))
	f.Add("* * * * *", int64(400*time.Hour), "", "", "America/St_Johns", int64(1_772_951_400))
	f.Add("", int64(0), "2026-12-21", "2027-01-04T00:00:00Z", "Pacific/Apia", int64(1_790_000_000))
	f.Fuzz(func(t *testing.T, expression string, duration int64, from, until, zone string, seconds int64) {
		now := time.Unix(seconds%8_000_000_000, 0)
		for _, kind := range []Kind{Allow, Deny} {
			w, err := NewWindow("w", Spec{kind, expression, time.Duration(duration), from, until, zone})
			if err != nil {
				return
			}
			checkChange(t, Windows{w}, now)
		}
	})
}

// checkChange checks that State changes at Until and not before.
func checkChange(t *testing.T, ws Windows, now time.Time) {
	t.Helper()
	state := ws.State(now)
	if state.Until.IsZero() {
		return
	}
	if !state.Until.After(now) {
		t.Fatalf("at %v: until %v", now, state.Until)
	}
	if ws.State(state.Until).Open == state.Open {
		t.Fatalf("at %v: nothing changes at %v", now, state.Until)
	}
	if ws.State(state.Until.Add(-1)).Open != state.Open {
		t.Fatalf("at %v: it changes before %v", now, state.Until)
	}
}
