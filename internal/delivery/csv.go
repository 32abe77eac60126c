package delivery

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

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
