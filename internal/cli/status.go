package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/server"
)

// runningFlags say which service is asked.
type runningFlags struct{ config, url, ca string }

func (f *runningFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.config, "config", "", flagConfig)
	f.addURL(command)
}

// addURL adds the flags of where the service is.
func (f *runningFlags) addURL(command *cobra.Command) {
	command.Flags().StringVar(&f.url, "url", "", flagRunningURL)
	command.Flags().StringVar(&f.ca, "ca", "", flagCA)
}

func (f *runningFlags) open(system System) (*app.Running, error) {
	return app.OpenRunning(connect.Options{Config: f.config, Env: system.Env, Now: time.Now}, app.Asking{URL: f.url, CA: f.ca})
}

func newStatus(system System) *cobra.Command {
	var flags runningFlags
	var output string
	command := &cobra.Command{
		Use:     "status",
		Short:   wordStatusShort,
		Long:    wordStatusLong,
		Example: wordStatusExample,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			running, err := flags.open(system)
			if err != nil {
				return err
			}
			status, err := running.Status(command.Context())
			if err != nil {
				return err
			}
			return printAs(system.Out, output, status, func() string { return statusText(status) })
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&output, "output", "o", "text", flagOutputPlain)
	return command
}

// statusText is one paragraph for each repository, the polls, and the deliveries. Times are those
// of the service.
func statusText(status server.Status) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(visible(fmt.Sprintf(format, args...)) + "\n") }
	for _, lane := range status.Repositories {
		line("%s  %s", lane.Name, strings.Join(laneFacts(status.At, lane), ", "))
		if lane.Failure != "" {
			line("  %s", lane.Failure)
		}
		if lane.LastError != "" && lane.LastError != lane.Failure {
			line("  %s", lane.LastError)
		}
	}
	for i, text := range pollingLines(status) {
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

// laneFacts say where a lane stands.
func laneFacts(now time.Time, lane server.Repository) []string {
	facts := []string{string(lane.State)}
	if lane.ReconciledAt.IsZero() {
		facts = append(facts, "never looked at")
	} else {
		facts = append(facts, "looked at "+ago(now, lane.ReconciledAt))
	}
	if !lane.WaitingSince.IsZero() {
		facts = append(facts, "hinted at "+ago(now, lane.WaitingSince))
	}
	if lane.Attempts > 0 {
		facts = append(facts, "failed "+count(lane.Attempts, "time", "times"))
	}
	switch left := lane.NextRun.Sub(now).Round(time.Second); {
	case lane.NextRun.IsZero() || lane.State == server.StateRunning:
	case left > 0:
		facts = append(facts, fmt.Sprintf("next in %v", left))
	default:
		facts = append(facts, "next at once")
	}
	return facts
}

// ago is how long before now something was.
func ago(now, then time.Time) string {
	return fmt.Sprintf("%v ago", max(now.Sub(then), 0).Round(time.Second))
}
