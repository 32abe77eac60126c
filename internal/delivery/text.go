package delivery

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
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

// WriteCSV writes a report as a table with one row for each metric of each group and time. The
// rows of all targets have an empty group, and those of the whole time come first.
func (r Report) WriteCSV(w io.Writer) error {
	table := csv.NewWriter(w)
	// Flush has the error
	_ = table.Write([]string{"group", "from", "to", "metric", "value", "count", "unknown", "median_seconds", "p90_seconds", "max_seconds"})
	write := func(name string, total Metrics, series []Point) {
		for _, point := range append([]Point{{From: r.Since, To: r.Until, Metrics: total}}, series...) {
			for _, cells := range point.rows() {
				begin := []string{cell(name), point.From.UTC().Format(time.RFC3339), point.To.UTC().Format(time.RFC3339)}
				_ = table.Write(append(begin, cells...))
			}
		}
	}
	write("", r.Total, r.Series)
	for _, group := range r.Groups {
		write(group.Title(), group.Total, group.Series)
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return fmt.Errorf("write the metrics: %w", err)
	}
	return nil
}

func (m Metrics) rows() [][]string {
	number := func(name string, value float64) []string {
		return []string{name, strconv.FormatFloat(value, 'f', -1, 64), "", "", "", "", ""}
	}
	rows := [][]string{
		number("deployments", float64(m.Deployments)), number("deployment_days", float64(m.DeploymentDays)),
		number("deployments_per_day", m.DeploymentsPerDay), number("rollbacks", float64(m.Rollbacks)), number("failed", float64(m.Failed)),
	}
	if m.FailureRate != nil {
		rows = append(rows, number("failure_rate", *m.FailureRate))
	}
	rows = append(rows, m.LeadTime.row("lead_time"), m.TimeToRestore.row("time_to_restore"),
		m.EventToPullRequest.row("event_to_pull_request"), m.OpenPullRequests.row("open_pull_requests"))
	for _, gate := range m.Gates {
		rows = append(rows, gate.row("gate "+gate.Name))
	}
	return rows
}

func (t Times) row(name string) []string {
	cells := []string{name, "", strconv.Itoa(t.Count), strconv.Itoa(t.Unknown), "", "", ""}
	if t.Count > 0 {
		for i, d := range []Duration{t.Median, t.P90, t.Max} {
			cells[4+i] = strconv.FormatFloat(d.seconds(), 'f', -1, 64)
		}
	}
	return cells
}

// cell returns a text that no spreadsheet takes for a formula: users choose names and labels.
// https://owasp.org/www-community/attacks/CSV_Injection
func cell(text string) string {
	if strings.IndexAny(text, "=+-@\t\r") == 0 {
		return "'" + text
	}
	return text
}
