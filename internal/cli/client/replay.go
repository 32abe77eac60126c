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
	"promoter/internal/fault"
	"promoter/internal/serverfile"
	"promoter/internal/service/adminapi"
)

// replayFlags select the delivery that is processed again.
type replayFlags struct {
	service                flag.Service
	receiver, file, output string
	headers                []string
	dryRun                 bool
}

// NewReplay returns the command replay.
func NewReplay(system console.System) *cobra.Command {
	var flags replayFlags
	command := &cobra.Command{
		Use:   "replay [DELIVERY]",
		Short: "Process a stored or saved delivery again",
		Long: `replay makes the running service process a stored delivery again: it reconciles the repositories
that the events of the delivery are about. The ID of a delivery is in the log, in the output of
'promoter status', and at its sender.

With --file, replay decodes the payload in a file as the receiver would and shows the events. It
sends nothing and needs no service.

Exit codes: 0 success; 1 the delivery does not exist or cannot be read, or the service did not
answer.`,
		Example: `  promoter replay 72d3162e-cc78-11e3-81ab-4c9367dc0958 --dry-run
  promoter replay --file push.json --receiver github --header 'X-GitHub-Event: push'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runReplay(command, flags, strings.Join(args, ""), system)
		},
	}
	flags.service.Add(command)
	set := command.Flags()
	set.StringVar(&flags.receiver, "receiver", "", "`NAME` of the receiver that accepted the delivery, or with --file would accept it")
	set.StringVar(&flags.file, "file", "", "decode the payload in this `FILE` instead")
	set.StringArrayVar(&flags.headers, "header", nil, "with --file, a request `HEADER`, as in 'X-GitHub-Event: push' (repeatable)")
	set.BoolVar(&flags.dryRun, "dry-run", false, "only show the events, and the repositories that would be reconciled")
	set.StringVarP(&flags.output, "output", "o", "text", flag.OutputUsage)
	return command
}

func runReplay(command *cobra.Command, flags replayFlags, delivery string, system console.System) error {
	if err := render.CheckOutput(flags.output); err != nil {
		return err
	}
	if (delivery == "") == (flags.file == "") {
		return fault.New(fault.Invalid, "name a delivery that the service keeps, or a payload with --file")
	}
	replayed, err := replay(command, flags, delivery, system)
	if err != nil {
		return err
	}
	if err := render.PrintAs(system.Out, flags.output, replayed, func() string { return replayedText(replayed) }); err != nil {
		return err
	}
	switch {
	case flags.file != "" || flags.dryRun:
		render.PrintMessage(system.Err, "dry run, nothing triggered")
	case len(replayed.Repositories) > 0:
		render.PrintMessage(system.Err, "triggered %s", render.Count(len(replayed.Repositories), "repository", "repositories"))
	default:
		render.PrintMessage(system.Err, "no repository subscribes to it: nothing was triggered")
	}
	return nil
}

func replay(command *cobra.Command, flags replayFlags, delivery string, system console.System) (api.Replayed, error) {
	if flags.file != "" {
		return adminapi.ReadSaved(serverfile.Options{Config: flags.service.Config, Env: system.Env, Now: time.Now},
			adminapi.SavedDelivery{File: flags.file, Receiver: flags.receiver, Headers: flags.headers})
	}
	if len(flags.headers) > 0 {
		return api.Replayed{}, fault.New(fault.Invalid, "--header goes with --file")
	}
	client, err := flags.service.Open(system)
	if err != nil {
		return api.Replayed{}, err
	}
	return client.Replay(command.Context(), api.Replay{ID: delivery, Receiver: flags.receiver, DryRun: flags.dryRun})
}

// replayedText lists what a delivery reports.
func replayedText(replayed api.Replayed) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(render.Visible(fmt.Sprintf(format, args...)) + "\n") }
	line("%s  %s  %s", replayed.Receiver, replayed.EventType, replayed.ID)
	for _, event := range replayed.Events {
		line("  %s", event)
	}
	if replayed.Ignored != "" {
		line("  nothing: %s", replayed.Ignored)
	}
	for _, repository := range replayed.Repositories {
		line("  -> %s", repository)
	}
	return b.String()
}
