package app

import (
	"net/http"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/outbound"
	"promoter/internal/registry"
)

// Registries are the registries as a person's own machine may ask them: with the
// Docker configuration of that person, also on loopback.
type Registries struct{ client *registry.Client }

// NewRegistries wires the registries. cacheDir keeps what cannot change between
// runs; empty: nothing is kept.
func NewRegistries(cacheDir string, now func() time.Time) (*Registries, error) {
	way, err := outbound.New(outbound.Options{
		AllowLoopback: true,
		Proxy:         http.ProxyFromEnvironment,
		Now:           now,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	client, err := registry.New(registry.Options{
		Outbound: way,
		Docker:   true,
		CacheDir: cacheDir,
		Now:      now,
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
