package flag

import (
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/connect"
	"promoter/internal/service/adminapi"
)

// Service selects the running service that a command queries.
type Service struct{ Config, URL, CA string }

// Add adds the flags to a command.
func (f *Service) Add(command *cobra.Command) {
	command.Flags().StringVar(&f.Config, "config", "", ConfigUsage)
	f.AddURL(command)
}

// AddURL adds the flags for the address of the service.
func (f *Service) AddURL(command *cobra.Command) {
	command.Flags().StringVar(&f.URL, "url", "", "`URL` of the service (default: the address in the server file, on this machine)")
	command.Flags().StringVar(&f.CA, "ca", "", "PEM `FILE` of certificate authorities to trust for https, in addition to the system's")
}

// Open returns a client of the service.
func (f *Service) Open(system console.System) (*adminapi.Client, error) {
	return adminapi.NewClient(connect.Options{Config: f.Config, Env: system.Env, Now: time.Now}, adminapi.ClientOptions{URL: f.URL, CA: f.CA})
}
