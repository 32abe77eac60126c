package cli

import (
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/connect"
)

// targetFlags say on which repositories a verb works.
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
	flags.StringArrayVar(&f.repositories, "repo", nil, flagRepo)
	flags.StringArrayVar(&f.networks, "network", nil, flagNetwork)
	flags.StringVar(&f.cache, "cache", "", flagMirrors)
	flags.StringVarP(&f.output, "output", "o", "text", flagOutputPlain)
}

// named says that a person named repositories, rather than being in one.
func (f *targetFlags) named() bool { return f.config != "" || len(f.repositories) > 0 }

func (f *targetFlags) open(system System) (*connect.Connections, error) {
	if err := checkOutput(f.output); err != nil {
		return nil, err
	}
	return connect.Connect(connect.Options{
		Config: f.config, Repositories: f.repositories, Networks: f.networks, Env: system.Env, Now: time.Now,
	})
}

// options are those of a pass.
func (f *targetFlags) options(system System, progress *progress) app.RunOptions {
	return app.RunOptions{CacheDir: f.cache, Progress: progress.show, Note: func(note string) {
		progress.clear()
		say(system.Err, "%s", note)
	}}
}
