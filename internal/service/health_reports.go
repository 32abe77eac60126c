package service

import (
	"context"
	"slices"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/health"
	"promoter/internal/store"
)

// healthReports are the reports about health that one repository may use, and the states that
// followed. It implements engine.Evidence.
type healthReports struct {
	store     *store.Store
	key       string
	names     []event.Repository // by which reports name it
	receivers []string           // that it may use
}

// newHealthReports returns the reports that a repository may use: those of the receivers of the
// server file that list it, or that list no repositories.
func newHealthReports(stored *store.Store, server *connect.Server, repository *connect.Repository) healthReports {
	h := healthReports{store: stored, key: string(repository.Key())}
	info := repository.SCM.Info()
	for _, address := range []string{info.URL, info.CloneURL} {
		if name, ok := evidence.RepositoryAt(address); ok {
			h.names = append(h.names, name)
		}
	}
	for _, receiver := range server.File.Receivers {
		if mayUse(receiver, repository) {
			h.receivers = append(h.receivers, receiver.Name)
		}
	}
	return h
}

func mayUse(receiver serverconfig.Receiver, repository *connect.Repository) bool {
	return receiver.Repositories == nil || repository.Matches(receiver.Repositories)
}

// Reports implements engine.Evidence.
func (h healthReports) Reports(ctx context.Context, receivers []string) ([]health.Report, error) {
	usable := slices.DeleteFunc(slices.Clone(receivers), func(name string) bool { return !slices.Contains(h.receivers, name) })
	return h.store.Health.Reports(ctx, usable, h.names)
}

// Load implements engine.Evidence.
func (h healthReports) Load(ctx context.Context, keys []health.Key) (map[health.Key]health.State, error) {
	return h.store.Health.States(ctx, h.key, keys)
}

// Store implements engine.Evidence.
func (h healthReports) Store(ctx context.Context, states map[health.Key]health.State) error {
	return h.store.Health.SaveStates(ctx, h.key, states)
}
