package schedule

import (
	"strings"
	"testing"
	"time"
)

func mustTimes(t testing.TB, s TimesSpec) Times {
	t.Helper()
	times, err := NewTimes(s)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func TestNewTimes_refuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec TimesSpec
		want string
	}{
		{TimesSpec{}, "five cron fields"},
		{TimesSpec{TimeZone: "UTC"}, "five cron fields"},
		{TimesSpec{Every: -1}, "longer than nothing"},
		{TimesSpec{Every: time.Hour, Schedule: "0 6 * * *"}, "no schedule beside it"},
		{TimesSpec{Every: time.Hour, TimeZone: "UTC"}, "no schedule beside it"},
		{TimesSpec{Schedule: "0 6 * *"}, "five cron fields"},
		{TimesSpec{Schedule: "@every 1h"}, "five cron fields"},
		{TimesSpec{Schedule: "CRON_TZ=Asia/Tokyo 0 6 * * *"}, "five cron fields"},
		{TimesSpec{Schedule: "0 0 30 2 *"}, "never comes"},
		{TimesSpec{Schedule: "0 6 * * *", TimeZone: "Local"}, "depends on the machine"},
		{TimesSpec{Schedule: "0 6 * * *", TimeZone: "Europe/Berlim"}, "is not known"},
	} {
		if _, err := NewTimes(test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.spec, err, test.want)
		}
	}
}

func TestTimes_String(t *testing.T) {
	t.Parallel()
	for want, spec := range map[string]TimesSpec{
		"every 1h30m":                {Every: 90 * time.Minute},
		"0 6 * * 1-5 Europe/Berlin":  {Schedule: " 0  6 * *\t1-5", TimeZone: "Europe/Berlin"},
		"0 6 * * * UTC":              {Schedule: "0 6 * * *"},
		"*/5 0-3 1,15 JAN-MAR * UTC": {Schedule: "*/5 0-3 1,15 JAN-MAR *", TimeZone: "UTC"},
	} {
		if got := mustTimes(t, spec).String(); got != want {
			t.Errorf("%+v is called %q, want %q", spec, got, want)
		}
		if again, err := ParseTimes(want); err != nil || again.String() != mustTimes(t, spec).String() {
			t.Errorf("%q reads again as %q, %v", want, again, err)
		}
	}
	for _, name := range []string{"", "poll", "every", "every 0s", "0 6 * * *", "0 6 * * * UTC UTC"} {
		if times, err := ParseTimes(name); err == nil {
			t.Errorf("%q reads as %q", name, times)
		}
	}
	if never := (Times{}); !never.IsZero() || never.String() != "" || !never.After(time.Now()).IsZero() {
		t.Errorf("the zero value is %+v", never)
	}
}

func TestTimes_After(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		spec TimesSpec
		last string
		want []string
	}{
		{"an interval", TimesSpec{Every: time.Hour}, "2026-06-01T10:20:00Z", []string{"2026-06-01T11:20:00Z", "2026-06-01T12:20:00Z"}},
		{"a time is after itself once", TimesSpec{Schedule: "0 6 * * *"}, "2026-06-01T05:59:59Z", []string{"2026-06-01T06:00:00Z", "2026-06-02T06:00:00Z"}},
		{"the clock goes forward", TimesSpec{Schedule: "30 2 * * *", TimeZone: "Europe/Berlin"}, "2026-03-28T00:00:00Z", []string{
			"2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z", // 03:30 on the day that has no 02:30
		}},
		{"the clock goes back", TimesSpec{Schedule: "30 2 * * *", TimeZone: "Europe/Berlin"}, "2026-10-24T00:00:00Z", []string{
			"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", // once on the day that has it twice
		}},
		{"every hour, forward", TimesSpec{Schedule: "0 * * * *", TimeZone: "Europe/Berlin"}, "2026-03-29T00:00:00Z", []string{
			"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z",
		}},
		{"every hour, back", TimesSpec{Schedule: "0 * * * *", TimeZone: "Europe/Berlin"}, "2026-10-24T23:00:00Z", []string{
			"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			times, at := mustTimes(t, test.spec), clock(t, test.last)
			for _, want := range test.want {
				if at = times.After(at); !at.Equal(clock(t, want)) {
					t.Fatalf("came at %v, want %s", at.UTC(), want)
				}
			}
		})
	}
}

// For every schedule that compiles, times increase, and its name parses to an
// equal schedule.
func FuzzTimes(f *testing.F) {
	for _, seed := range []string{"0 6 * * 1-5", "*/5 * * * *", "59 23 29 2 *", "0 0 31 */2 *", "@daily", "1,2 3-4 * * SUN", "0 0 * * *\n"} {
		f.Add(seed, "Europe/Berlin", int64(1_790_000_000))
	}
	f.Add("30 2 * * *", "America/Havana", int64(1_793_500_000))
	f.Fuzz(func(t *testing.T, expression, zone string, seconds int64) {
		times, err := NewTimes(TimesSpec{Schedule: expression, TimeZone: zone})
		if err != nil {
			return
		}
		last := time.Unix(seconds%4_000_000_000, 0)
		next := times.After(last)
		if next.IsZero() {
			t.Fatalf("%q does not come after %v", expression, last)
		}
		if !next.After(last) {
			t.Fatalf("%q comes at %v, which is not after %v", expression, next, last)
		}
		if first := times.After(last.Add(next.Sub(last) / 2)); !first.Equal(next) {
			t.Fatalf("%q: after the half of the wait for %v comes %v", expression, next, first)
		}
		if again, err := ParseTimes(times.String()); err != nil || again.String() != times.String() {
			t.Fatalf("%q reads again as %q: %v", times, again, err)
		}
	})
}
