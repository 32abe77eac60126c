package config

import (
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// formatDuration writes a duration for people: days where it has any, and no
// parts that are zero: 3d, 1d12h, 1h30m.
func formatDuration(d time.Duration) string {
	days := ""
	if n := d / day; n > 0 {
		days = strconv.FormatInt(int64(n), 10) + "d"
		d -= n * day
	}
	if d == 0 && days != "" {
		return days
	}
	text := strings.Replace(d.String(), "m0s", "m", 1)
	return days + strings.Replace(text, "h0m", "h", 1)
}
