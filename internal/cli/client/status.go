// Package client has the commands that query the running service: status, where, metrics,
// history, and replay.
package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/service/adminapi"
	"promoter/internal/view"
)

// statusFlags select what is shown of the service, and how.
type statusFlags struct {
	service flag.Service
	query   view.ApplicationsQuery
	status  string
	watch   bool
	output  string
	color   string
}

// NewStatus returns the command status.
func NewStatus(system console.System) *cobra.Command {
	var flags statusFlags
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the running service, and what is in each environment",
		Long: `status queries the running service: each repository with its last reconciliation, its error, and
whether it waits, runs, or is retried; for each application and environment the version, its age,
its status and health, the open pull request, and what it waits for; and the latest deliveries.

With --watch, it shows the state again after each change, until Ctrl-C: on a terminal in place,
otherwise what changed, with the time. With -o json, it prints one JSON document per line.

It reads the service's server file to find the address on this machine, or uses --url. The
service answers if its server file sets 'api.token'.

Exit codes: 0 the service answered; 1 it did not.`,
		Example: `  promoter status
  promoter status --env prod --status waiting
  promoter status --watch --app shop
  promoter status --url https://promoter.example.com -o json`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return runStatus(command, &flags, system) },
	}
	flags.service.Add(command)
	set := command.Flags()
	set.StringVar(&flags.query.Repository, "repo", "", "only the `REPOSITORY` with this name, host and name, or key")
	set.StringVar(&flags.query.Environment, "env", "", "only the environment with this `NAME`")
	set.StringVar(&flags.query.Application, "app", "", "only the application with this `NAME`")
	set.StringVar(&flags.status, "status", "", "only applications with a target in this `STATUS`: "+fault.List(view.Statuses()))
	set.IntVar(&flags.query.Limit, "limit", 100, "maximum `NUMBER` of applications, up to 1000")
	set.BoolVarP(&flags.watch, "watch", "w", false, "show the state again after each change, until Ctrl-C")
	set.StringVarP(&flags.output, "output", "o", "text", flag.OutputUsage)
	set.StringVar(&flags.color, "color", "auto", flag.ColorUsage)
	return command
}

func runStatus(command *cobra.Command, flags *statusFlags, system console.System) error {
	if err := flags.check(); err != nil {
		return err
	}
	paint, err := console.NewPainter(flags.color, system)
	if err != nil {
		return err
	}
	client, err := flags.service.Open(system)
	if err != nil {
		return err
	}
	read := func(ctx context.Context) (report, error) { return flags.read(ctx, client) }
	if flags.watch {
		return watch{read: read, changes: client.Changes, screen: newScreen(system, flags.output, paint)}.run(command.Context())
	}
	found, err := read(command.Context())
	if err != nil {
		return err
	}
	if err := render.PrintAs(system.Out, flags.output, found, func() string { return found.text(paint) }); err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if more := found.Total - len(found.Applications); more > 0 {
		render.PrintMessage(system.Err, "%s not shown: add --limit, --env, --app, or --status",
			render.Count(more, "application is", "applications are"))
	}
	return nil
}

func (f *statusFlags) check() error {
	if err := render.CheckOutput(f.output); err != nil {
		return err
	}
	if f.query.Limit < 1 || f.query.Limit > api.MaxEvents {
		return fault.New(fault.Invalid, "--limit %d: write 1 to %d", f.query.Limit, api.MaxEvents)
	}
	f.query.Status = view.Status(f.status)
	if f.status != "" && !slices.Contains(view.Statuses(), f.query.Status) {
		return fault.New(fault.Invalid, "--status %s: want %s", f.status, fault.List(view.Statuses()))
	}
	return nil
}

// report is the state of the service at one time: what status prints with -o json.
type report struct {
	api.Status
	Environments []string              `json:"environments"`
	Applications []view.ApplicationRow `json:"applications"`
	Total        int                   `json:"total"` // applications, with those over the limit

	selected bool     // by flags: the service itself is not shown
	removed  []string // of a change: repositories and targets that are listed no more
}

// read returns what the flags select.
func (f *statusFlags) read(ctx context.Context, client *adminapi.Client) (report, error) {
	found := report{Applications: []view.ApplicationRow{}}
	var err error
	if found.Status, err = client.Status(ctx); err != nil {
		return found, err
	}
	page, err := client.Applications(ctx, f.query)
	if err != nil {
		return found, err
	}
	found.Environments, found.Total = render.List(page.Environments), page.Total
	found.Applications = append(found.Applications, page.Applications...)
	inTargets := f.query.Environment != "" || f.query.Application != "" || f.status != ""
	found.selected = inTargets || f.query.Repository != ""
	found.Repositories = slices.DeleteFunc(found.Repositories, func(one api.Repository) bool {
		other := f.query.Repository != "" && !identity.RepositoryKey(one.Key).IsNamed(one.Name, f.query.Repository)
		return other || inTargets && !slices.ContainsFunc(found.Applications, inRepository(one))
	})
	return found, nil
}

// inRepository returns whether an application is in a repository.
func inRepository(one api.Repository) func(view.ApplicationRow) bool {
	return func(row view.ApplicationRow) bool { return row.Key == one.Key }
}
