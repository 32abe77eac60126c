package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/connect"
	"promoter/internal/server"
	"promoter/internal/service/adminapi"
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

func (f *runningFlags) open(system System) (*adminapi.Client, error) {
	return adminapi.NewClient(connect.Options{Config: f.config, Env: system.Env, Now: time.Now}, adminapi.ClientOptions{URL: f.url, CA: f.ca})
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
	for _, repository := range status.Repositories {
		line("%s  %s", repository.Name, strings.Join(repositoryFacts(status.At, repository), ", "))
		if repository.Failure != "" {
			line("  %s", repository.Failure)
		}
		if repository.LastError != "" && repository.LastError != repository.Failure {
			line("  %s", repository.LastError)
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

// repositoryFacts describe the state of a repository.
func repositoryFacts(now time.Time, repository server.Repository) []string {
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
		facts = append(facts, "failed "+count(repository.Attempts, "time", "times"))
	}
	switch left := repository.NextRun.Sub(now).Round(time.Second); {
	case repository.NextRun.IsZero() || repository.State == server.StateRunning:
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
