package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/fault"
)

// serveFlags say how the service works.
type serveFlags struct {
	config string
	dryRun bool
	quiet  time.Duration
	format string
	level  string
	pprof  string
	open   bool // --pprof may be an address that others reach
}

func newServe(system System) *cobra.Command {
	var flags serveFlags
	command := &cobra.Command{
		Use:     "serve",
		Short:   wordServeShort,
		Long:    wordServeLong,
		Example: wordServeExample,
		Args:    noArguments,
		RunE:    func(command *cobra.Command, _ []string) error { return runServe(command, flags, system) },
	}
	set := command.Flags()
	set.StringVar(&flags.config, "config", "", flagConfig)
	set.BoolVar(&flags.dryRun, "dry-run", false, flagDryRun)
	set.DurationVar(&flags.quiet, "quiet", 5*time.Second, flagQuiet)
	set.StringVar(&flags.format, "log", "json", flagLog)
	set.StringVar(&flags.level, "log-level", "info", flagLogLevel)
	set.StringVar(&flags.pprof, "pprof", "", flagPprof)
	set.BoolVar(&flags.open, "pprof-open", false, flagPprofOpen)
	return command
}

func runServe(command *cobra.Command, flags serveFlags, system System) error {
	log, err := newLog(system.Err, flags.format, flags.level)
	if err != nil {
		return err
	}
	if flags.quiet < 0 {
		return fault.New(fault.Invalid, "--quiet is below zero")
	}
	server, err := connect.OpenService(connect.Options{Config: flags.config, Env: system.Env, Now: time.Now})
	if err != nil {
		return err
	}
	options := app.ServeOptions{
		DryRun: flags.dryRun, Version: versionOf(released).Version, Debounce: flags.quiet, Log: log, Profiles: flags.pprof, ProfilesOpen: flags.open,
		Listening: func(at net.Addr) { log.Info("listening", slog.String("address", at.String())) },
	}
	if flags.quiet == 0 {
		options.Debounce = -1
	}
	err = app.Serve(command.Context(), server, options)
	if errors.Is(err, context.Canceled) && command.Context().Err() != nil {
		err = nil // it was asked to stop, and did
	}
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// newLog writes lines for machines or for people.
func newLog(to io.Writer, format, level string) (*slog.Logger, error) {
	var from slog.Level
	if err := from.UnmarshalText([]byte(level)); err != nil {
		return nil, fault.New(fault.Invalid, "--log-level %s: write debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: from, ReplaceAttr: readable}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(to, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(to, options)), nil
	}
	return nil, fault.New(fault.Invalid, "--log %s: write json or text", format)
}

// readable writes a duration as people do, 1.2s, also in JSON, where it would be a
// number of nanoseconds.
func readable(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindDuration {
		attr.Value = slog.StringValue(attr.Value.Duration().Round(time.Millisecond).String())
	}
	return attr
}
