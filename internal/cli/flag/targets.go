// Package flag has the flags that several commands share, and what they select: the
// repositories to work on, or the running service to query.
package flag

import (
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/cli/console"
	"promoter/internal/cli/render"
	"promoter/internal/connect"
	"promoter/internal/serverfile"
)

// Targets select the repositories that a command works on.
type Targets struct {
	Config       string
	Repositories []string
	Networks     []string
	Cache        string
	Output       string
}

// Add adds the flags to a command.
func (f *Targets) Add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.Config, "config", "", ConfigUsage)
	flags.StringArrayVar(&f.Repositories, "repo", nil,
		"`REPOSITORY`: OWNER/NAME or FORGE:OWNER/NAME of the server file, or a URL without one (repeatable)")
	flags.StringArrayVar(&f.Networks, "network", nil, NetworkUsage)
	flags.StringVar(&f.Cache, "cache", "", "`FOLDER` that keeps mirrors of repositories and immutable facts about images between runs")
	flags.StringVarP(&f.Output, "output", "o", "text", OutputUsage)
}

// Named reports whether flags, the environment, or a server file in the working directory
// select repositories.
func (f *Targets) Named(system console.System) bool {
	return len(f.Repositories) > 0 || serverfile.HasFile(f.Connection(system))
}

// Open connects to what the flags select.
func (f *Targets) Open(system console.System) (*connect.Connections, error) {
	if err := render.CheckOutput(f.Output); err != nil {
		return nil, err
	}
	return connect.Connect(f.Connection(system))
}

// Connection returns how to connect to what the flags select.
func (f *Targets) Connection(system console.System) serverfile.Options {
	return serverfile.Options{Config: f.Config, Repositories: f.Repositories, Networks: f.Networks, Env: system.Env, Now: time.Now}
}

// Options returns the options of a run that shows its progress.
func (f *Targets) Options(system console.System, progress *console.Progress) app.RunOptions {
	return app.RunOptions{CacheDir: f.Cache, Progress: progress.Show, Note: func(note string) {
		progress.Around(func() { render.PrintMessage(system.Err, "%s", note) })
	}}
}
