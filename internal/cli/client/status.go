// Package client has the commands that query the running service: status, where, metrics,
// history, and replay.
package client

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
)

// NewStatus returns the command status.
func NewStatus(system console.System) *cobra.Command {
	var flags flag.Service
	var output string
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the running service",
		Long: `status queries the running service: each repository with its last reconciliation, its error, and
whether it waits, runs, or is retried, and the latest deliveries.

It reads the service's server file to find the address on this machine, or uses --url. The
service answers if its server file sets 'api.token'.

Exit codes: 0 the service answered; 1 it did not.`,
		Example: `  promoter status
  promoter status --url https://promoter.example.com -o json`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := render.CheckOutput(output); err != nil {
				return err
			}
			client, err := flags.Open(system)
			if err != nil {
				return err
			}
			status, err := client.Status(command.Context())
			if err != nil {
				return err
			}
			return render.PrintAs(system.Out, output, status, func() string { return statusText(status) })
		},
	}
	flags.Add(command)
	command.Flags().StringVarP(&output, "output", "o", "text", flag.OutputUsage)
	return command
}

// maxDrift is how many lines about drift a repository has.
const maxDrift = 5

// statusText has one paragraph for each of the repositories, the schedules, and the
// deliveries. Times are relative to the clock of the service.
func statusText(status api.Status) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(render.Visible(fmt.Sprintf(format, args...)) + "\n") }
	for _, repository := range status.Repositories {
		line("%s  %s", repository.Name, strings.Join(repositoryFacts(status.At, repository), ", "))
		if repository.Failure != "" {
			line("  %s", repository.Failure)
		}
		if repository.LastError != "" && repository.LastError != repository.Failure {
			line("  %s", repository.LastError)
		}
		for i, one := range repository.Drift {
			if i == maxDrift {
				line("  and %d more", len(repository.Drift)-i)
				break
			}
			line("  %s", strings.TrimPrefix(render.TargetName(one.Target())+"  drift  "+one.String(), "  "))
		}
	}
	for i, text := range scheduleLines(status) {
		if i == 0 {
			b.WriteString("\n")
		}
		line("%s", text)
	}
	for i, text := range receiverLines(status) {
		if i == 0 {
			b.WriteString("\n")
		}
		line("%s", text)
	}
	if len(status.Deliveries) > 0 {
		b.WriteString("\n")
	}
	for _, d := range status.Deliveries {
		again := ""
		if d.Times > 1 {
			again = fmt.Sprintf("  (%d times, the last %s)", d.Times, ago(status.At, d.SeenAt))
		}
		line("%s  %s  %s  %s%s", ago(status.At, d.ReceivedAt), d.Receiver, d.EventType, d.ID, again)
	}
	return b.String()
}

// repositoryFacts describes the state of a repository.
func repositoryFacts(now time.Time, repository api.Repository) []string {
	facts := []string{string(repository.State)}
	if repository.ReconciledAt.IsZero() {
		facts = append(facts, "never reconciled")
	} else {
		facts = append(facts, "reconciled "+ago(now, repository.ReconciledAt))
	}
	if !repository.WaitingSince.IsZero() {
		facts = append(facts, "triggered "+ago(now, repository.WaitingSince))
	}
	if repository.Attempts > 0 {
		facts = append(facts, "failed "+render.Count(repository.Attempts, "time", "times"))
	}
	switch left := repository.NextRun.Sub(now).Round(time.Second); {
	case repository.NextRun.IsZero() || repository.State == api.StateRunning:
	case left > 0:
		facts = append(facts, fmt.Sprintf("next in %v", left))
	default:
		facts = append(facts, "next at once")
	}
	return facts
}

// scheduleLines lists the schedules, and the hosts that receive no requests for now.
func scheduleLines(status api.Status) []string {
	var lines []string
	for _, one := range status.Schedules {
		line := fmt.Sprintf("%s  %s", one.Schedule, render.Count(one.Repositories, "repository", "repositories"))
		if !one.Last.IsZero() {
			line += ", last " + ago(status.At, one.Last)
		}
		if left := one.Next.Sub(status.At).Round(time.Second); !one.Next.IsZero() {
			line += fmt.Sprintf(", next in %v", max(left, 0))
		}
		if lines = append(lines, line); one.Failing != "" {
			lines = append(lines, "  "+one.Failing)
		}
	}
	for _, one := range status.Backoffs {
		with := ""
		if one.Credential != "" {
			with = " with " + one.Credential
		}
		lines = append(lines, fmt.Sprintf("waiting: %s (%s): no requests%s until %s: %s", one.Host, one.Peer, with, one.Until.Format(time.RFC3339), one.Reason))
	}
	return lines
}

// receiverLines lists the receivers of reports about health, with what is missing.
func receiverLines(status api.Status) []string {
	var lines []string
	for _, one := range status.Receivers {
		text := "receiver " + one.Receiver
		if one.Kind != "" {
			text += " (" + one.Kind + ")"
		}
		text += "  " + render.Count(len(one.Repositories), "repository", "repositories")
		if one.ReportedAt.IsZero() {
			text += ", no report"
		} else {
			text += ", last report " + ago(status.At, one.ReportedAt)
		}
		lines = append(lines, text)
		if one.Failing != "" {
			lines = append(lines, "  "+one.Failing)
		}
		if one.SetUp != "" {
			lines = append(lines, "  "+one.SetUp)
		}
	}
	return lines
}

// ago returns how long ago something was.
func ago(now, then time.Time) string {
	return fmt.Sprintf("%v ago", max(now.Sub(then), 0).Round(time.Second))
}
