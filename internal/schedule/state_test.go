package schedule

import (
	"strings"
	"testing"
	"time"
)

// clock parses an RFC 3339 time.
func clock(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func mustWindow(t testing.TB, name string, s Spec) Window {
	t.Helper()
	w, err := NewWindow(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The windows that the tests combine.
func testWindows(t testing.TB) map[string]Window {
	t.Helper()
	windows := make(map[string]Window)
	for name, spec := range map[string]Spec{
		"office":    {Kind: Allow, Schedule: "0 9 * * 1-4", Duration: 7 * time.Hour, TimeZone: "Europe/Berlin"},
		"evening":   {Kind: Allow, Schedule: "0 16 * * 1-4", Duration: 2 * time.Hour, TimeZone: "Europe/Berlin"},
		"tokyo":     {Kind: Allow, Schedule: "0 9 * * MON-FRI", Duration: 8 * time.Hour, TimeZone: "Asia/Tokyo"},
		"xmas":      {Kind: Deny, From: "2026-12-21", Until: "2027-01-04", TimeZone: "Europe/Berlin"},
		"audit":     {Kind: Deny, From: "2026-06-02T10:30:00+02:00", Until: "2026-06-02T11:00:00+02:00"},
		"quarter":   {Kind: Allow, From: "2026-07-01", Until: "2026-09-30", TimeZone: "America/New_York"},
		"lunch":     {Kind: Deny, Schedule: "0 12 * * *", Duration: time.Hour, TimeZone: "Europe/Berlin"},
		"night":     {Kind: Allow, Schedule: "30 2 * * *", Duration: time.Hour, TimeZone: "Europe/Berlin"},
		"backup":    {Kind: Deny, Schedule: "30 2 * * *", Duration: time.Hour, TimeZone: "Europe/Berlin"},
		"hourly":    {Kind: Allow, Schedule: "0 * * * *", Duration: 10 * time.Minute, TimeZone: "Europe/Berlin"},
		"overnight": {Kind: Allow, Schedule: "0 22 * * *", Duration: 8 * time.Hour, TimeZone: "Europe/Berlin"},
		"ended":     {Kind: Allow, Until: "2020-01-01"},
		"forever":   {Kind: Deny, From: "2026-01-01"},
		"since":     {Kind: Allow, From: "2026-01-01"},
		"always":    {Kind: Deny, Schedule: "* * * * *", Duration: time.Minute},
		"around":    {Kind: Allow, Schedule: "* * * * *", Duration: time.Hour},
		"coverall":  {Kind: Deny, Schedule: "0 8 * * *", Duration: 23 * time.Hour, TimeZone: "Europe/Berlin"},
		"leap":      {Kind: Allow, Schedule: "0 0 29 2 *", Duration: time.Hour},
	} {
		windows[name] = mustWindow(t, name, spec)
	}
	return windows
}

func TestWindows_State(t *testing.T) {
	t.Parallel()
	windows := testWindows(t)
	for _, test := range []struct {
		name, windows, now string
		open               bool
		until, reason      string // until empty: the zero time
	}{
		{"no windows", "", "2026-06-01T10:00:00Z", true, "", "no windows are set"},
		{"inside", "office", "2026-06-01T10:00:00+02:00", true, "2026-06-01T16:00:00+02:00", "window office allows"},
		{"outside", "office", "2026-06-01T17:00:00+02:00", false, "2026-06-02T09:00:00+02:00", "outside of window office"},
		{"next opening over the weekend", "office", "2026-06-04T18:00:00+02:00", false, "2026-06-08T09:00:00+02:00", "outside of window office"},
		{"start inclusive", "office", "2026-06-01T09:00:00+02:00", true, "2026-06-01T16:00:00+02:00", "window office allows"},
		{"just before the start", "office", "2026-06-01T08:59:59.999999999+02:00", false, "2026-06-01T09:00:00+02:00", "outside of window office"},
		{"end exclusive", "office", "2026-06-01T16:00:00+02:00", false, "2026-06-02T09:00:00+02:00", "outside of window office"},
		{"just before the end", "office", "2026-06-01T15:59:59.999999999+02:00", true, "2026-06-01T16:00:00+02:00", "window office allows"},
		{"deny over allow", "office lunch", "2026-06-01T12:30:00+02:00", false, "2026-06-01T13:00:00+02:00", "window lunch denies"},
		{"closing because of a deny", "office lunch", "2026-06-01T11:00:00+02:00", true, "2026-06-01T12:00:00+02:00", "window office allows"},
		{"opening after deny and outside", "office audit xmas", "2026-12-22T10:00:00+01:00", false, "2027-01-05T09:00:00+01:00", "window xmas denies"},
		{"a deny while it is closed anyway", "office xmas", "2026-12-25T10:00:00+01:00", false, "2027-01-05T09:00:00+01:00", "window xmas denies"},
		{"two denies at once", "xmas forever", "2026-12-25T10:00:00+01:00", false, "", "windows xmas, forever deny; no opening was found in the next five years"},
		{"several allows are joined", "office evening", "2026-06-01T10:00:00+02:00", true, "2026-06-01T18:00:00+02:00", "window office allows"},
		{"several allows, none now", "office tokyo", "2026-06-05T20:00:00+02:00", false, "2026-06-08T09:00:00+09:00", "outside of windows office, tokyo"},
		{"several allows at once", "tokyo since", "2026-06-02T09:00:00+09:00", true, "", "windows tokyo, since allow"},
		{"only denies are open otherwise", "lunch", "2026-06-01T10:00:00+02:00", true, "2026-06-01T12:00:00+02:00", "window lunch does not deny now"},
		{"only denies, several", "lunch xmas", "2026-06-01T10:00:00+02:00", true, "2026-06-01T12:00:00+02:00", "windows lunch, xmas do not deny now"},
		{"first day of a range", "xmas", "2026-12-21T00:00:00+01:00", false, "2027-01-05T00:00:00+01:00", "window xmas denies"},
		{"before the first day", "xmas", "2026-12-20T23:59:59+01:00", true, "2026-12-21T00:00:00+01:00", "window xmas does not deny now"},
		{"last day of a range", "xmas", "2027-01-04T23:59:59+01:00", false, "2027-01-05T00:00:00+01:00", "window xmas denies"},
		{"after the last day", "xmas", "2027-01-05T00:00:00+01:00", true, "", "window xmas does not deny now"},
		{"a range of times, end exclusive", "audit", "2026-06-02T11:00:00+02:00", true, "", "window audit does not deny now"},
		{"a range of times, start inclusive", "audit", "2026-06-02T08:30:00Z", false, "2026-06-02T11:00:00+02:00", "window audit denies"},
		{"time zone per window", "office tokyo", "2026-06-02T01:00:00Z", true, "2026-06-02T16:00:00+02:00", "window tokyo allows"},
		{"a range in its own zone", "quarter", "2026-10-01T03:59:59Z", true, "2026-10-01T00:00:00-04:00", "window quarter allows"},
		{"a range that is over", "ended", "2026-06-01T00:00:00Z", false, "", "outside of window ended; no opening was found in the next five years"},
		{"an open range", "since", "2025-12-31T23:59:59Z", false, "2026-01-01T00:00:00Z", "outside of window since"},
		{"a deny without a gap", "since always", "2026-06-01T00:00:00Z", false, "", "window always denies; no opening was found in the next five years"},
		{"a deny around every allow", "office coverall", "2026-06-01T10:00:00+02:00", false, "", "window coverall denies; no opening was found in the next five years"},
		{"over midnight", "overnight", "2026-06-01T03:00:00+02:00", true, "2026-06-01T06:00:00+02:00", "window overnight allows"},
		{"a leap day", "leap", "2026-06-01T00:00:00Z", false, "2028-02-29T00:00:00Z", "outside of window leap"},
		{"a leap day out of sight", "leap", "2096-03-01T00:00:00Z", false, "", "outside of window leap; no opening was found in the next five years"},
		{"an allow without an end", "around", "2026-06-01T00:00:00Z", true, "", "window around allows"},

		// 29 March 2026, 02:00 is followed by 03:00.
		{"spring: the hour before the gap", "night", "2026-03-29T01:59:59+01:00", false, "2026-03-29T03:30:00+02:00", "outside of window night"},
		{"spring: 02:30 is 03:30", "night", "2026-03-29T03:30:00+02:00", true, "2026-03-29T04:30:00+02:00", "window night allows"},
		{"spring: not yet at 03:29", "night", "2026-03-29T03:29:59+02:00", false, "2026-03-29T03:30:00+02:00", "outside of window night"},
		{"spring: a deny is not left out", "backup", "2026-03-29T04:00:00+02:00", false, "2026-03-29T04:30:00+02:00", "window backup denies"},
		{"spring: next day as ever", "night", "2026-03-29T12:00:00+02:00", false, "2026-03-30T02:30:00+02:00", "outside of window night"},
		{"spring: a duration is elapsed time", "overnight", "2026-03-29T06:30:00+02:00", true, "2026-03-29T07:00:00+02:00", "window overnight allows"},
		{"spring: every hour goes on", "hourly", "2026-03-29T01:30:00+01:00", false, "2026-03-29T03:00:00+02:00", "outside of window hourly"},
		// 25 October 2026, 03:00 is followed by 02:00.
		{"autumn: 02:30 the first time", "night", "2026-10-25T02:30:00+02:00", true, "2026-10-25T02:30:00+01:00", "window night allows"},
		{"autumn: not 02:30 the second time", "night", "2026-10-25T02:30:00+01:00", false, "2026-10-26T02:30:00+01:00", "outside of window night"},
		{"autumn: a duration is elapsed time", "overnight", "2026-10-25T05:00:00+01:00", false, "2026-10-25T22:00:00+01:00", "outside of window overnight"},
		{"autumn: every hour goes on", "hourly", "2026-10-25T02:05:00+01:00", true, "2026-10-25T02:10:00+01:00", "window hourly allows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var chosen Windows
			for _, name := range strings.Fields(test.windows) {
				chosen = append(chosen, windows[name])
			}
			var until time.Time
			if test.until != "" {
				until = clock(t, test.until)
			}
			got := chosen.State(clock(t, test.now))
			if got.Open != test.open || got.Reason != test.reason || !got.Until.Equal(until) {
				t.Errorf("got  %v until %v: %s\nwant %v until %v: %s", got.Open, got.Until, got.Reason, test.open, until, test.reason)
			}
		})
	}
}

func BenchmarkWindows_State(b *testing.B) {
	windows := testWindows(b)
	for name, set := range map[string]Windows{
		"open":   {windows["office"], windows["xmas"]},
		"closed": {windows["tokyo"], windows["xmas"], windows["lunch"]},
		"never":  {windows["since"], windows["always"]},
		"fought": {windows["office"], windows["coverall"]},
	} {
		now := clock(b, "2026-06-01T10:00:00+02:00")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				set.State(now)
			}
		})
	}
}
