package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/delivery"
)

// deliveryPath is the path of the delivery metrics.
const deliveryPath = "/delivery"

// deliveryBody is a report of delivery metrics as tables. charts.js draws those of Charts.
type deliveryBody struct {
	Given  map[string]string // the parameters, as the user wrote them
	Report delivery.Report
	Groups []deliveryGroup // at most maxGroups, by name
	Others int             // groups that are left out
	Charts []chart         // those in which something was measured
	Drawn  int             // groups in each chart
	CSV    string          // URL
}

// deliveryGroup is a row of the table of groups.
type deliveryGroup struct {
	delivery.Group
	URL string // of what the group consists of; empty: it cannot be selected
}

// chart is one metric of some groups: a column for each group, and a row for each period.
type chart struct {
	Title, Explanation string
	Unit               string // of the values: count, percent, or seconds
	Groups             []string
	Rows               []chartRow
}

type chartRow struct {
	From  string // day
	Cells []chartCell
}

// chartCell is what was measured in one period: a text for users, and the number that is drawn.
// Without a number, nothing was measured.
type chartCell struct{ Text, Number string }

// Limits of the page.
const (
	maxGroups = 500
	// maxLines is the number of groups in a chart: style.css has a color for each.
	maxLines = 6
)

// delivery shows how often, how fast, and how safely versions are deployed. It is not read again
// with each reconciliation: a report reads the whole history.
func (p *pages) delivery(c echo.Context) error {
	given, err := api.Parameters(c, api.MetricsParameters()...)
	if err != nil {
		return err
	}
	maps.DeleteFunc(given, func(_, text string) bool { return text == "" }) // a field of the form that is empty
	query, err := api.MetricsQuery(given, principalOf(c), p.Now())
	if err != nil {
		return err
	}
	report, err := p.Metrics(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return p.write(c, http.StatusOK, "delivery", page{Title: "Delivery metrics", Charts: true, Body: deliveryOf(given, report)})
}

func deliveryOf(given map[string]string, report delivery.Report) deliveryBody {
	body := deliveryBody{Given: given, Report: report, CSV: api.PathWith(api.Prefix+"/metrics", with(given, "format", "csv"))}
	listed := report.Groups
	if len(listed) > maxGroups {
		listed, body.Others = listed[:maxGroups], len(listed)-maxGroups
	}
	for _, group := range listed {
		body.Groups = append(body.Groups, deliveryGroup{group, groupURL(given, report.Group, group.Name)})
	}
	if len(report.Groups) > 0 {
		body.Charts = chartsOf(report)
		body.Drawn = min(len(report.Groups), maxLines)
	}
	return body
}

// groupURL returns the URL of the metrics of one group, in the groups that it consists of.
func groupURL(given map[string]string, by, name string) string {
	if name == "" {
		return ""
	}
	into := delivery.ByApplication
	if by == delivery.ByApplication {
		into = delivery.ByEnvironment
	}
	filter, value := by, name
	if key, labeled := strings.CutPrefix(by, "label:"); labeled {
		filter, value = "label", key+"="+name
	}
	return api.PathWith(deliveryPath, with(with(given, "group", into), filter, value))
}

func with(given map[string]string, name, value string) map[string]string {
	changed := maps.Clone(given)
	changed[name] = value
	return changed
}

// chartsOf returns the charts of a report, about the groups with most deployments.
func chartsOf(report delivery.Report) []chart {
	drawn := slices.SortedStableFunc(slices.Values(report.Groups), func(a, b delivery.Group) int {
		return cmp.Compare(b.Total.Deployments, a.Total.Deployments)
	})
	drawn = drawn[:min(len(drawn), maxLines)]
	seconds := func(d delivery.Duration) string {
		return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', -1, 64)
	}
	median := func(of func(delivery.Metrics) delivery.Times) func(delivery.Metrics) chartCell {
		return func(m delivery.Metrics) chartCell {
			times := of(m)
			if times.Count == 0 {
				return chartCell{Text: times.Text()}
			}
			return chartCell{times.Text(), seconds(times.Median)}
		}
	}
	const medians = "Median, and the 90th percentile in parentheses."
	charts := []chart{}
	for _, one := range []struct {
		title, explanation, unit string
		cell                     func(delivery.Metrics) chartCell
	}{
		{"Deployments", "First landings of a snapshot in a target.", "count", func(m delivery.Metrics) chartCell {
			return chartCell{strconv.Itoa(m.Deployments), strconv.Itoa(m.Deployments)}
		}},
		{"Change failure rate", "Deployments that failed, were reverted, or rolled back.", "percent", func(m delivery.Metrics) chartCell {
			if m.FailureRate == nil {
				return chartCell{Text: m.FailedText()}
			}
			const percent = 100
			return chartCell{m.FailedText(), strconv.FormatFloat(*m.FailureRate*percent, 'f', -1, 64)}
		}},
		{"Lead time for changes", medians, "seconds", median(func(m delivery.Metrics) delivery.Times { return m.LeadTime })},
		{"Time to restore", medians, "seconds", median(func(m delivery.Metrics) delivery.Times { return m.TimeToRestore })},
		{"Event to pull request", medians, "seconds", median(func(m delivery.Metrics) delivery.Times { return m.EventToPullRequest })},
		{"Open pull requests", "At the end of the period; drawn is the age of the oldest.", "seconds", func(m delivery.Metrics) chartCell {
			if m.OpenPullRequests.Count == 0 {
				return chartCell{Text: m.OpenText()}
			}
			return chartCell{m.OpenText(), seconds(m.OpenPullRequests.Max)}
		}},
	} {
		table := chart{Title: one.title, Explanation: one.explanation, Unit: one.unit}
		for _, group := range drawn {
			table.Groups = append(table.Groups, group.Title())
		}
		for i, period := range report.Series {
			row := chartRow{From: report.Day(period.From)}
			for _, group := range drawn {
				row.Cells = append(row.Cells, one.cell(group.Series[i].Metrics))
			}
			table.Rows = append(table.Rows, row)
		}
		if table.isMeasured() {
			charts = append(charts, table)
		}
	}
	return charts
}

func (c chart) isMeasured() bool {
	return slices.ContainsFunc(c.Rows, func(row chartRow) bool {
		return slices.ContainsFunc(row.Cells, func(cell chartCell) bool { return cell.Number != "" })
	})
}
