package service

import (
	"context"
	"maps"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/health"
	"promoter/internal/receiver"
	"promoter/internal/server"
	"promoter/internal/serverfile"
	"promoter/internal/statebranch"
	"promoter/internal/store"
)

// healthReports are the reports about health that one repository may use, and the states that
// followed. It implements observe.Evidence.
type healthReports struct {
	store     *store.Store
	key       string
	names     []event.Repository      // by which reports name it
	receivers []serverconfig.Receiver // that it may use
}

// newHealthReports returns the reports that a repository may use: those of the receivers of the
// server file that list it, or that list no repositories.
func newHealthReports(stored *store.Store, server *serverfile.Server, repository *connect.Repository) healthReports {
	h := healthReports{store: stored, key: string(repository.Key())}
	info := repository.SCM.Info()
	for _, address := range []string{info.URL, info.CloneURL} {
		if name, ok := evidence.RepositoryAt(address); ok {
			h.names = append(h.names, name)
		}
	}
	for _, receiver := range server.File.Receivers {
		if mayUse(receiver, repository) {
			h.receivers = append(h.receivers, receiver)
		}
	}
	return h
}

func mayUse(receiver serverconfig.Receiver, repository *connect.Repository) bool {
	return receiver.Repositories == nil || repository.Matches(receiver.Repositories)
}

// Reports implements observe.Evidence. What a token of the API reported counts while its scope permits
// it to report that.
func (h healthReports) Reports(ctx context.Context, receivers []string) ([]health.Report, error) {
	usable := map[string]serverconfig.Receiver{}
	for _, one := range h.receivers {
		if slices.Contains(receivers, one.Name) {
			usable[one.Name] = one
		}
	}
	reports, err := h.store.Health.Reports(ctx, slices.Sorted(maps.Keys(usable)), h.names)
	return slices.DeleteFunc(reports, func(r health.Report) bool {
		from := usable[r.Receiver]
		environment, application, _ := strings.Cut(r.Subject, "/")
		return from.Kind == receiver.Evidence && !from.MayReport(environment, application)
	}), err
}

// Load implements observe.Evidence.
func (h healthReports) Load(ctx context.Context, keys []health.Key) (map[health.Key]health.State, error) {
	return h.store.Health.States(ctx, h.key, keys)
}

// Store implements observe.Evidence.
func (h healthReports) Store(ctx context.Context, states map[health.Key]health.State) error {
	return h.store.Health.SaveStates(ctx, h.key, states)
}

// checkPosted refuses a report that a user posted and that nothing would use, so that the user
// sees the mistake. A repository about which the receiver may not report is not distinguished
// from one that does not exist. A GitOps engine also reports about what promoter does not know:
// its reports are accepted.
func (i *Inbox) checkPosted(ctx context.Context, accepted server.Accepted) error {
	if accepted.Sender != receiver.Evidence {
		return nil
	}
	for _, report := range accepted.Reports {
		for _, named := range report.Repositories {
			if err := i.checkPostedFor(ctx, accepted.Receiver, named, report.Health.Subject); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *Inbox) checkPostedFor(ctx context.Context, receiver string, named event.Repository, subject string) error {
	repositories, err := i.store.RepositoriesNamed(ctx, named)
	if err != nil {
		return err
	}
	file := i.discovery.server.File
	permitted := slices.DeleteFunc(repositories, func(r store.Repository) bool { return !mayReport(file.Receivers, receiver, r.Address()) })
	if len(permitted) == 0 {
		name := strings.ToLower(named.Host + "/" + named.Name)
		listed := slices.ContainsFunc(i.discovery.server.Targets, func(t serverfile.Target) bool { return t.Address() == name })
		if listed && mayReport(file.Receivers, receiver, name) {
			return fault.New(fault.Temporary, "%s has not been reconciled yet: send the report again", name)
		}
		return fault.New(fault.NotFound, "there is no repository %.200q for which the receiver %s may report health", name, receiver)
	}
	environment, application, _ := strings.Cut(subject, "/")
	if !slices.ContainsFunc(file.Receivers, func(r serverconfig.Receiver) bool {
		return r.Name == receiver && r.MayReport(environment, application)
	}) {
		return fault.New(fault.NotFound, "the receiver %s may not report the health of %.200q", receiver, subject)
	}
	follows, err := i.store.HealthSubscriptions(ctx, receiver)
	if err != nil {
		return err
	}
	for _, r := range permitted {
		if slices.Contains(follows[r.Key], store.Health{Receiver: receiver, Subject: subject}) {
			return nil
		}
	}
	if application != "" {
		application = " for the application " + application
	}
	return fault.New(fault.Invalid, "the config of %s has no environment %s with health: {api: true, from: %s}%s",
		permitted[0].Host+"/"+permitted[0].Name, environment, receiver, application)
}

// mayReport reports whether a receiver may report about the repository of a name.
func mayReport(receivers []serverconfig.Receiver, receiver, name string) bool {
	return slices.ContainsFunc(receivers, func(r serverconfig.Receiver) bool {
		return r.Name == receiver && (r.Repositories == nil ||
			slices.ContainsFunc(r.Repositories, func(pattern string) bool {
				return glob.Match(strings.ToLower(pattern), strings.ToLower(name))
			}))
	})
}

// sealMemory remembers the newest seal of a repository in the database. It implements
// statebranch.SealMemory.
type sealMemory struct {
	store *store.Store
	key   string // of the repository
}

// Newest implements statebranch.SealMemory.
func (m sealMemory) Newest(ctx context.Context) (newest statebranch.SealedCommit, err error) {
	newest.Counter, newest.Commit, err = m.store.Seals.Newest(ctx, m.key)
	return newest, err
}

// Remember implements statebranch.SealMemory.
func (m sealMemory) Remember(ctx context.Context, newest statebranch.SealedCommit) error {
	return m.store.Seals.Remember(ctx, m.key, newest.Counter, newest.Commit)
}
