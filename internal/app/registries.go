package app

import (
	"net/http"
	"net/netip"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/outbound"
	"promoter/internal/registry"
)

// Registries are the registries as a person's own machine may ask them: with the
// Docker configuration of that person, also on loopback.
type Registries struct{ client *registry.Client }

// RegistryOptions say how the registries are asked.
type RegistryOptions struct {
	CacheDir string   // keeps what cannot change between runs; empty: nothing is kept
	Networks []string // private networks, as CIDR, in which registries may lie
	Now      func() time.Time
}

// NewRegistries wires the registries.
func NewRegistries(options RegistryOptions) (*Registries, error) {
	networks, err := parseNetworks(options.Networks)
	if err != nil {
		return nil, err
	}
	way, err := outbound.New(outbound.Options{
		AllowLoopback: true,
		Networks:      networks,
		Proxy:         http.ProxyFromEnvironment,
		Now:           options.Now,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	client, err := registry.New(registry.Options{
		Outbound: way,
		Docker:   true,
		CacheDir: options.CacheDir,
		Now:      options.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Registries{client: client}, nil
}

// Versions returns the view of one round of work.
func (r *Registries) Versions() Versions { return r.client.For(identity.RepositoryKey("")) }

// Close writes what was learnt to the cache folder.
func (r *Registries) Close() error { return r.client.Flush() }

func parseNetworks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fault.New(fault.Invalid, "--network %q: want a network like 10.0.0.0/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}
