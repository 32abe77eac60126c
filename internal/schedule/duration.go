package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day

	// MaxDuration is the longest duration that a config file may contain: ten
	// years.
	MaxDuration = 3650 * day

	maxDurationText = 64 // bytes
)

// ParseDuration parses Go's durations with d for 24 hours and w for seven days,
// as in 1w2d, 72h or 1.5d. A duration is not negative.
func ParseDuration(s string) (time.Duration, error) {
	total, ok := sumParts(s)
	if !ok {
		return 0, fmt.Errorf("%.80q is not a duration like 30s, 15m, 72h, 3d or 1w2d", s)
	}
	if total > MaxDuration {
		return 0, fmt.Errorf("%.80q is longer than ten years", s)
	}
	return total, nil
}

// sumParts sums pairs of number and unit. It stops above MaxDuration, so the
// sum cannot overflow.
func sumParts(s string) (total time.Duration, ok bool) {
	if s == "0" {
		return 0, true
	}
	if s == "" || len(s) > maxDurationText {
		return 0, false
	}
	for s != "" && total <= MaxDuration {
		number := s[:len(s)-len(strings.TrimLeft(s, "0123456789."))]
		unit := s[len(number):]
		if end := strings.IndexAny(unit, "0123456789."); end >= 0 {
			unit = unit[:end]
		}
		part, ok := parsePart(number, unit)
		if !ok {
			return 0, false
		}
		total += part
		s = s[len(number)+len(unit):]
	}
	return total, true
}

func parsePart(number, unit string) (time.Duration, bool) {
	factor := time.Duration(1)
	switch unit {
	case "d":
		unit, factor = "h", day/time.Hour
	case "w":
		unit, factor = "h", week/time.Hour
	}
	part, err := time.ParseDuration(number + unit)
	switch {
	case number == "" || err != nil:
		return 0, false
	case part > MaxDuration/factor:
		return MaxDuration + 1, true
	default:
		return part * factor, true
	}
}

// FormatDuration formats a duration for display: whole weeks and days if there
// are any, and no zero parts.
func FormatDuration(d time.Duration) string {
	text := make([]byte, 0, maxDurationText)
	for _, unit := range [...]struct {
		letter byte
		length time.Duration
	}{{'w', week}, {'d', day}, {'h', time.Hour}, {'m', time.Minute}} {
		if n := d / unit.length; n > 0 {
			text = append(strconv.AppendInt(text, int64(n), 10), unit.letter)
			d -= n * unit.length
		}
	}
	if d > 0 || len(text) == 0 {
		text = append(text, d.String()...)
	}
	return string(text)
}
