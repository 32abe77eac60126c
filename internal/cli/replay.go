package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/server"
	"promoter/internal/service/adminapi"
)

// replayFlags say what is played again.
type replayFlags struct {
	runningFlags
	receiver, file, output string
	headers                []string
	dryRun                 bool
}

func newReplay(system System) *cobra.Command {
	var flags replayFlags
	command := &cobra.Command{
		Use:     "replay [DELIVERY]",
		Short:   wordReplayShort,
		Long:    wordReplayLong,
		Example: wordReplayExample,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runReplay(command, flags, strings.Join(args, ""), system)
		},
	}
	flags.add(command)
	set := command.Flags()
	set.StringVar(&flags.receiver, "receiver", "", flagReceiver)
	set.StringVar(&flags.file, "file", "", flagPayload)
	set.StringArrayVar(&flags.headers, "header", nil, flagHeader)
	set.BoolVar(&flags.dryRun, "dry-run", false, flagReplayDry)
	set.StringVarP(&flags.output, "output", "o", "text", flagOutputPlain)
	return command
}

func runReplay(command *cobra.Command, flags replayFlags, delivery string, system System) error {
	if err := checkOutput(flags.output); err != nil {
		return err
	}
	if (delivery == "") == (flags.file == "") {
		return fault.New(fault.Invalid, "name a delivery that the service keeps, or a payload with --file")
	}
	replayed, err := replay(command, flags, delivery, system)
	if err != nil {
		return err
	}
	if err := printAs(system.Out, flags.output, replayed, func() string { return replayedText(replayed) }); err != nil {
		return err
	}
	switch {
	case flags.file != "" || flags.dryRun:
		say(system.Err, "dry run, nothing triggered")
	case len(replayed.Repositories) > 0:
		say(system.Err, "triggered %s", count(len(replayed.Repositories), "repository", "repositories"))
	default:
		say(system.Err, "no repository subscribes to it: nothing was triggered")
	}
	return nil
}

func replay(command *cobra.Command, flags replayFlags, delivery string, system System) (server.Replayed, error) {
	if flags.file != "" {
		return adminapi.ReadSaved(connect.Options{Config: flags.config, Env: system.Env, Now: time.Now},
			adminapi.SavedDelivery{File: flags.file, Receiver: flags.receiver, Headers: flags.headers})
	}
	if len(flags.headers) > 0 {
		return server.Replayed{}, fault.New(fault.Invalid, "--header goes with --file")
	}
	running, err := flags.open(system)
	if err != nil {
		return server.Replayed{}, err
	}
	return running.Replay(command.Context(), server.Replay{ID: delivery, Receiver: flags.receiver, DryRun: flags.dryRun})
}

// replayedText says what a delivery means.
func replayedText(replayed server.Replayed) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(visible(fmt.Sprintf(format, args...)) + "\n") }
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
