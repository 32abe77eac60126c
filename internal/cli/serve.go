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
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/fault"
	"promoter/internal/serverfile"
	"promoter/internal/telemetry"
)

// serveFlags configure the service.
type serveFlags struct {
	config string
	dryRun bool
	quiet  time.Duration
	format string
	level  string
	pprof  bool
	open   bool // --pprof for clients on other machines too
}

func newServe(system console.System) *cobra.Command {
	var flags serveFlags
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run as a service: receive webhooks, poll, and reconcile",
		Long: `serve does continuously what run does once. Webhooks from registries and forges trigger
reconciliations; promoter verifies what they report and never trusts a payload. Without any
webhook, serve polls, every five minutes by default ('poll').

Events are stored in a database before the sender gets a response: SQLite in the data folder, or
PostgreSQL ('database') if several replicas share the work. If the database is lost, only the
history is lost: everything else is read again from Git, the registries, and the forges.

serve needs a server file. Webhooks arrive at /webhooks/NAME; /healthz reports that the process
responds, /readyz that it can work. 'metrics.listen' is the address of /metrics. On SIGTERM or
Ctrl-C, serve finishes the work in progress and exits within 20 seconds.

Exit codes: 0 stopped; 1 it could not start or could not continue; 3 stopped, and work did not end
in time.`,
		Example: `  promoter serve --config promoter-server.yaml
  promoter serve --dry-run --log text`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return runServe(command, flags, system) },
	}
	set := command.Flags()
	set.StringVar(&flags.config, "config", "", flag.ConfigUsage)
	set.BoolVar(&flags.dryRun, "dry-run", false, flag.DryRunUsage)
	set.DurationVar(&flags.quiet, "quiet", 5*time.Second, "debounce: `DURATION` to wait after a webhook before reconciling a repository")
	set.StringVar(&flags.format, "log", "json", "log `FORMAT`: json or text")
	set.StringVar(&flags.level, "log-level", "info", "log `LEVEL`: debug, info, warn, or error")
	set.BoolVar(&flags.pprof, "pprof", false, "serve profiles of the process at /debug/pprof/ of metrics.listen, to this machine only")
	set.BoolVar(&flags.open, "pprof-open", false, "serve them to other machines too; profiles show memory contents, secrets included")
	return command
}

func runServe(command *cobra.Command, flags serveFlags, system console.System) error {
	log, err := newLog(system.Err, flags.format, flags.level)
	if err != nil {
		return err
	}
	if flags.quiet < 0 {
		return fault.New(fault.Invalid, "--quiet is below zero")
	}
	server, err := serverfile.OpenService(serverfile.Options{Config: flags.config, Env: system.Env, Now: time.Now})
	if err != nil {
		return err
	}
	version := versionOf(released)
	options := app.ServeOptions{
		DryRun: flags.dryRun, Debounce: flags.quiet,
		Build: telemetry.Build{Version: version.Version, Commit: version.Revision},
		Log:   log, Profiles: profilesOf(flags),
		Listening: func(at net.Addr) { log.Info("listening", slog.String("address", at.String())) },
	}
	if flags.quiet == 0 {
		options.Debounce = -1
	}
	err = app.Serve(command.Context(), server, options)
	if errors.Is(err, context.Canceled) && command.Context().Err() != nil {
		err = nil // it was stopped
	}
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// profilesOf is who may read profiles.
func profilesOf(flags serveFlags) telemetry.Profiles {
	switch {
	case flags.open:
		return telemetry.OpenProfiles
	case flags.pprof:
		return telemetry.LocalProfiles
	}
	return telemetry.NoProfiles
}

// newLog returns a logger for programs or for users.
func newLog(to io.Writer, format, level string) (*slog.Logger, error) {
	var from slog.Level
	if err := from.UnmarshalText([]byte(level)); err != nil {
		return nil, fault.New(fault.Invalid, "--log-level %s: write debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: from, ReplaceAttr: formatDuration}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(to, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(to, options)), nil
	}
	return nil, fault.New(fault.Invalid, "--log %s: write json or text", format)
}

// formatDuration formats a duration as 1.2s, also in JSON, where it would be a number of
// nanoseconds.
func formatDuration(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindDuration {
		attr.Value = slog.StringValue(attr.Value.Duration().Round(time.Millisecond).String())
	}
	return attr
}
