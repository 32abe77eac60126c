package flag

import (
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/serverfile"
	"promoter/internal/service/adminapi"
)

// Service selects the running service that a command queries.
type Service struct {
	Config, URL, CA string
	Networks        []string // without a server file
}

// Add adds the flags to a command.
func (f *Service) Add(command *cobra.Command) {
	command.Flags().StringVar(&f.Config, "config", "", ConfigUsage)
	command.Flags().StringArrayVar(&f.Networks, "network", nil,
		"private network (`CIDR`) that may contain the service of --url, without a server file (repeatable)")
	f.AddURL(command)
}

// AddURL adds the flags for the address of the service.
func (f *Service) AddURL(command *cobra.Command) {
	f.addAddress(command, "`URL` of the service (default: the address in the server file, on this machine)")
}

// AddOptional adds the flags for the address of a service to a command that works without one.
func (f *Service) AddOptional(command *cobra.Command) {
	f.addAddress(command,
		"`URL` of a running service that records it; --repo is then OWNER/NAME (default: written to the repository from here)")
}

func (f *Service) addAddress(command *cobra.Command, usage string) {
	command.Flags().StringVar(&f.URL, "url", "", usage)
	command.Flags().StringVar(&f.CA, "ca", "", "PEM `FILE` of certificate authorities to trust for https, in addition to the system's")
}

// Open returns a client of the service.
func (f *Service) Open(system console.System) (*adminapi.Client, error) {
	file := serverfile.Options{Config: f.Config, Networks: f.Networks, Env: system.Env, Now: time.Now}
	return adminapi.NewClient(file, adminapi.ClientOptions{URL: f.URL, CA: f.CA})
}
