package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "72h": 72 * time.Hour, "1.5h": 90 * time.Minute,
		"1d": 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1w2d3h": 9*24*time.Hour + 3*time.Hour, "1.5d": 36 * time.Hour,
		".5d": 12 * time.Hour, "250ms": 250 * time.Millisecond, "1µs": time.Microsecond, "3650d": MaxDuration, "521w": 521 * week,
	} {
		got, err := ParseDuration(in)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestParseDuration_refuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "not a duration", "5": "not a duration", "d": "not a duration", "-1h": "not a duration", "+1h": "not a duration",
		"1h-1m": "not a duration", "1 d": "not a duration", "1y": "not a duration", "1M": "not a duration", "1D": "not a duration",
		"1..5h": "not a duration", ".d": "not a duration", "1d1": "not a duration", "00": "not a duration", "1dd": "not a duration",
		"3650d1ns": "longer than ten years", "522w": "longer than ten years", "2000000h": "longer than ten years",
		"106751w": "longer than ten years", "99999999999999999999h": "not a duration",
		strings.Repeat("1h", 40): "not a duration",
	} {
		got, err := ParseDuration(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDuration(%q) = %v, %v, want %q", in, got, err, want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "3d": 72 * time.Hour, "1w2d3h": 9*day + 3*time.Hour,
		"2w": 14 * day, "1d1.5s": day + 1500*time.Millisecond, "250ms": 250 * time.Millisecond,
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%v) = %q, want %q", d, got, want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"1w2d3h4m5s6ms", "1.5d", "0", "3650d", "99999w9999999d", "1e9h", "µs", "1µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseDuration(s)
		if got < 0 || got > MaxDuration || err != nil && got != 0 {
			t.Fatalf("%q is %v, %v", s, got, err)
		}
		if again, err := ParseDuration(FormatDuration(got)); err != nil || again != got {
			t.Fatalf("%v reads again as %v, %v", got, again, err)
		}
		want, otherErr := time.ParseDuration(s)
		if err == nil && otherErr == nil && want != got {
			t.Fatalf("%q is %v, and for Go it is %v", s, got, want)
		}
	})
}
