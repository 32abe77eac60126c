package client

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/delivery"
	"promoter/internal/fault"
)

// metricsFlags select the metrics of a report.
type metricsFlags struct {
	service          flag.Service
	query            delivery.Query
	by, since, until string
	output           string
}

// NewMetrics returns the command metrics.
func NewMetrics(system console.System) *cobra.Command {
	var flags metricsFlags
	command := &cobra.Command{
		Use:   "metrics",
		Short: "Show delivery metrics: how often, how fast, and how safely versions are deployed",
		Long: `metrics shows delivery metrics from the history of the running service, for each environment and
week: deployments, change failure rate, lead time for changes, and time to restore, which are the
metrics of DORA; also the age of open pull requests, the time from a webhook to a pull request, and
the time at each condition and gate. Times are medians, with the 90th percentile in parentheses.

It queries the running service as 'promoter status' does.

Exit codes: 0 the service answered; 1 it did not.`,
		Example: `  promoter metrics --env prod --by month --since 365d
  promoter metrics --label team=payments --group application
  promoter metrics --since 2026-01-01T00:00:00Z -o csv > metrics.csv`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return runMetrics(command, &flags, system) },
	}
	flags.service.Add(command)
	set := command.Flags()
	set.StringVar(&flags.query.Repository, "repo", "", "only the `REPOSITORY` with this name, host and name, or key")
	set.StringVar(&flags.query.Environment, "env", "", "only the environment with this `NAME`")
	set.StringVar(&flags.query.Application, "app", "", "only the application with this `NAME`")
	set.StringVar(&flags.query.Label, "label", "", "only targets with this `LABEL` of the config: KEY or KEY=VALUE")
	set.StringVar(&flags.since, "since", "",
		"from this `TIME`: a duration, as in 90d, or a time, as in 2026-01-31T00:00:00Z (default: the last 12 periods)")
	set.StringVar(&flags.until, "until", "", "until this `TIME` (default: now)")
	set.StringVar(&flags.by, "by", "week", "length of a `PERIOD`: week or month")
	set.StringVar(&flags.query.Group, "group", "environment", "what `GROUPS` to show: environment, application, repository, or label:KEY")
	set.StringVar(&flags.query.TimeZone, "time-zone", "UTC", "`ZONE` in which days, weeks, and months begin, as in Europe/Berlin")
	set.StringVarP(&flags.output, "output", "o", "text", "output `FORMAT`: text, json, or csv")
	return command
}

func runMetrics(command *cobra.Command, flags *metricsFlags, system console.System) error {
	if flags.output != "csv" {
		if err := render.CheckOutput(flags.output); err != nil {
			return fault.New(fault.Invalid, "--output %s: want text, json, or csv", flags.output)
		}
	}
	flags.query.By = delivery.Period(flags.by)
	var err error
	if flags.query.Since, err = parseTime("since", flags.since); err != nil {
		return err
	}
	if flags.query.Until, err = parseTime("until", flags.until); err != nil {
		return err
	}
	client, err := flags.service.Open(system)
	if err != nil {
		return err
	}
	report, err := client.Metrics(command.Context(), flags.query)
	if err != nil {
		return err
	}
	if flags.output == "csv" {
		return report.WriteCSV(system.Out)
	}
	if err := render.PrintAs(system.Out, flags.output, report, func() string { return metricsText(report) }); err != nil {
		return fmt.Errorf("print the metrics: %w", err)
	}
	if len(report.Groups) == 0 && flags.output == "text" {
		render.PrintMessage(system.Err, "nothing happened in this time")
	}
	return nil
}

// parseTime parses the value of a flag; without one, the time is zero.
func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := api.Since(text, time.Now())
	if err != nil {
		return at, fault.New(fault.Invalid, "--%s %q: write a duration, as in 90d, or a time, as in 2026-01-31T00:00:00Z", flag, text)
	}
	return at, nil
}

// metricsText has a table for each group, with a row for each period in which something
// happened, and below it what waited at gates and what is not counted.
func metricsText(r delivery.Report) string {
	if len(r.Groups) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s to %s, by %s, %s\n", r.Day(r.Since), r.Day(r.Until), r.By, render.Visible(r.TimeZone))
	for _, group := range r.Groups {
		fmt.Fprintf(&b, "\n%s\n", render.Visible(group.Title()))
		rows := [][]string{{"from", "deployments", "failed", "lead time", "restored in", "to pull request", "open"}}
		for _, point := range group.Series {
			if row := metricsRow(r.Day(point.From), point.Metrics); strings.Join(row[1:], "") != "0-----" {
				rows = append(rows, row)
			}
		}
		for _, line := range render.Table(append(rows, metricsRow("all", group.Total)), nil) {
			b.WriteString("  " + line + "\n")
		}
		writeNotes(&b, group.Total)
	}
	return b.String()
}

func metricsRow(name string, m delivery.Metrics) []string {
	return []string{
		name, strconv.Itoa(m.Deployments), m.FailedText(),
		m.LeadTime.Text(), m.TimeToRestore.Text(), m.EventToPullRequest.Text(), m.OpenText(),
	}
}

// writeNotes writes how long promotions waited, and what is not counted.
func writeNotes(b *strings.Builder, m delivery.Metrics) {
	for _, gate := range m.Gates {
		text := gate.Text()
		if gate.Unknown > 0 {
			text += fmt.Sprintf(", %d not passed", gate.Unknown)
		}
		fmt.Fprintf(b, "  waited for %s: %s\n", render.Visible(gate.Name), text)
	}
	if m.Rollbacks > 0 {
		fmt.Fprintf(b, "  %s\n", render.Count(m.Rollbacks, "rollback", "rollbacks"))
	}
	var unknown []string
	if n := m.LeadTime.Unknown; n > 0 {
		unknown = append(unknown, "lead time of "+render.Count(n, "deployment", "deployments"))
	}
	if n := m.TimeToRestore.Unknown; n > 0 {
		unknown = append(unknown, "time to restore of "+render.Count(n, "deployment", "deployments"))
	}
	if len(unknown) > 0 {
		fmt.Fprintf(b, "  not known: %s\n", strings.Join(unknown, ", "))
	}
}
