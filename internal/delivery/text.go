package delivery

import (
	"fmt"
	"time"

	"promoter/internal/schedule"
)

// none is what users read where there is no value.
const none = "-"

// Text returns a duration for users, with two units at most: 1d3h.
func (d Duration) Text() string {
	long := time.Duration(d)
	switch {
	case long >= 24*time.Hour:
		long = long.Truncate(time.Hour)
	case long >= time.Hour:
		long = long.Truncate(time.Minute)
	case long >= time.Second:
		long = long.Truncate(time.Second)
	}
	return schedule.FormatDuration(long)
}

// Text returns the median for users, and the 90th percentile of several: 1h30m (1d).
func (t Times) Text() string {
	switch t.Count {
	case 0:
		return none
	case 1:
		return t.Median.Text()
	}
	return t.Median.Text() + " (" + t.P90.Text() + ")"
}

// FailedText returns the failed deployments for users: 1 (50%).
func (m Metrics) FailedText() string {
	if m.FailureRate == nil {
		return none
	}
	return fmt.Sprintf("%d (%.0f%%)", m.Failed, *m.FailureRate*100)
}

// OpenText returns the open pull requests for users: 2, oldest 14h.
func (m Metrics) OpenText() string {
	if m.OpenPullRequests.Count == 0 {
		return none
	}
	return fmt.Sprintf("%d, oldest %s", m.OpenPullRequests.Count, m.OpenPullRequests.Max.Text())
}

// Day returns the day of a time in the time zone of the report.
func (r Report) Day(at time.Time) string {
	zone, err := time.LoadLocation(r.TimeZone)
	if err != nil { // of another release
		zone = time.UTC
	}
	return at.In(zone).Format(time.DateOnly)
}

// Title returns the name of a group for users.
func (g Group) Title() string {
	if g.Name == "" {
		return "(none)"
	}
	return g.Name
}
