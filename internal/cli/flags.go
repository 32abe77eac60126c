package cli

import (
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/cli/render"
	"promoter/internal/connect"
	"promoter/internal/service/adminapi"
)

// Usages of flags that several verbs have.
const (
	flagConfig      = "server `FILE` (default: $PROMOTER_CONFIG, or promoter-server.yaml in this folder)"
	flagDir         = "`FOLDER` to work in"
	flagApp         = "`NAME` of the application (default: all)"
	flagDryRun      = "show what would be done, and write nothing"
	flagNetwork     = "private network (`CIDR`) that may contain registries (repeatable)"
	flagColor       = "`WHEN` to color the output: auto, always, or never"
	flagOutputPlain = "output `FORMAT`: text or json"
)

// targetFlags select the repositories that a verb works on.
type targetFlags struct {
	config       string
	repositories []string
	networks     []string
	cache        string
	output       string
}

func (f *targetFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.config, "config", "", flagConfig)
	flags.StringArrayVar(&f.repositories, "repo", nil, "`REPOSITORY`: OWNER/NAME or FORGE:OWNER/NAME of the server file, or a URL without one (repeatable)")
	flags.StringArrayVar(&f.networks, "network", nil, flagNetwork)
	flags.StringVar(&f.cache, "cache", "", "`FOLDER` that keeps mirrors of repositories and immutable facts about images between runs")
	flags.StringVarP(&f.output, "output", "o", "text", flagOutputPlain)
}

// named reports whether flags, the environment, or a server file in the working directory
// select repositories.
func (f *targetFlags) named(system System) bool {
	return len(f.repositories) > 0 || connect.HasFile(f.connection(system))
}

func (f *targetFlags) open(system System) (*connect.Connections, error) {
	if err := render.CheckOutput(f.output); err != nil {
		return nil, err
	}
	return connect.Connect(f.connection(system))
}

func (f *targetFlags) connection(system System) connect.Options {
	return connect.Options{Config: f.config, Repositories: f.repositories, Networks: f.networks, Env: system.Env, Now: time.Now}
}

// options are those of a run.
func (f *targetFlags) options(system System, progress *progress) app.RunOptions {
	return app.RunOptions{CacheDir: f.cache, Progress: progress.show, Note: func(note string) {
		progress.around(func() { render.PrintMessage(system.Err, "%s", note) })
	}}
}

// serviceFlags select the service that a verb queries.
type serviceFlags struct{ config, url, ca string }

func (f *serviceFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.config, "config", "", flagConfig)
	f.addURL(command)
}

// addURL adds the flags for the address of the service.
func (f *serviceFlags) addURL(command *cobra.Command) {
	command.Flags().StringVar(&f.url, "url", "", "`URL` of the service (default: the address in the server file, on this machine)")
	command.Flags().StringVar(&f.ca, "ca", "", "PEM `FILE` of certificate authorities to trust for https, in addition to the system's")
}

func (f *serviceFlags) open(system System) (*adminapi.Client, error) {
	return adminapi.NewClient(connect.Options{Config: f.config, Env: system.Env, Now: time.Now}, adminapi.ClientOptions{URL: f.url, CA: f.ca})
}
