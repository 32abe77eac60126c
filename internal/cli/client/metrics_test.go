package client

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/delivery"
)

func lasted(count, unknown int, median, p90 time.Duration) delivery.Times {
	return delivery.Times{Count: count, Unknown: unknown, Median: delivery.Duration(median), P90: delivery.Duration(p90), Max: delivery.Duration(p90)}
}

// The table has the periods in which something happened, and the days of the time zone.
func TestMetricsText(t *testing.T) {
	t.Parallel()
	at := func(day int) time.Time { return time.Date(2026, 11, day, 23, 0, 0, 0, time.UTC) }
	half := 0.5
	week := delivery.Metrics{
		Deployments: 2, Failed: 1, FailureRate: &half, LeadTime: lasted(2, 0, 90*time.Minute, 51*time.Hour+5*time.Minute),
		TimeToRestore: lasted(1, 0, 50*time.Minute+time.Millisecond, 50*time.Minute), EventToPullRequest: lasted(1, 0, 1200*time.Millisecond, 0),
		OpenPullRequests: lasted(1, 0, 14*time.Hour, 14*time.Hour),
	}
	total := week
	total.LeadTime.Unknown, total.TimeToRestore.Unknown, total.Rollbacks = 1, 2, 1
	total.Gates = []delivery.Gate{{Name: "approvals", Times: lasted(0, 1, 0, 0)}, {Name: "staging\x1b soak", Times: lasted(2, 0, 24*time.Hour, 26*time.Hour)}}
	report := delivery.Report{
		Since: at(1), Until: at(15), By: delivery.Week, TimeZone: "Europe/Berlin",
		Groups: []delivery.Group{{Name: "prod", Total: total, Series: []delivery.Point{{From: at(1), To: at(8)}, {From: at(8), To: at(15), Metrics: week}}}},
	}
	want := strings.Join([]string{
		"2026-11-02 to 2026-11-16, by week, Europe/Berlin",
		"",
		"prod",
		"  from        deployments  failed   lead time     restored in  to pull request  open",
		"  2026-11-09  2            1 (50%)  1h30m (2d3h)  50m          1s               1, oldest 14h",
		"  all         2            1 (50%)  1h30m (2d3h)  50m          1s               1, oldest 14h",
		"  waited for approvals: -, 1 not passed",
		`  waited for staging\x1b soak: 1d (1d2h)`,
		"  1 rollback",
		"  not known: lead time of 1 deployment, time to restore of 2 deployments",
		"",
	}, "\n")
	if diff := cmp.Diff(want, metricsText(report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
