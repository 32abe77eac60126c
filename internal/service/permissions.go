package service

import (
	"context"
	"fmt"
	"slices"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/service/history"
	"promoter/internal/state"
	"promoter/internal/store"
)

// permissions are what the server file permits to what the queue sends for repositories. They are
// asked when it is sent: since it was queued, a process with another server file may have started,
// and the repository may have got another name or be no longer followed.
//
// Each method returns why something is not sent; empty: it may be. An error means that this is not
// known yet.
type permissions struct {
	refresher *refresher
	store     *store.Store
}

// notFollowed is why nothing is sent for a repository.
const notFollowed = "the repository is not followed any more"

// repository returns a repository that is followed now, with its present name, or why nothing is sent for it.
func (p permissions) repository(ctx context.Context, key string) (found *connect.Repository, refused string, err error) {
	stored, err := p.store.Repository(ctx, key)
	if fault.KindOf(err) == fault.NotFound {
		return nil, notFollowed, nil
	}
	if err != nil {
		return nil, "", err
	}
	found, closed, err := p.find(ctx, key, stored.Forge)
	if err != nil {
		return nil, "", err
	}
	switch {
	case found == nil && closed != nil:
		return nil, "", fault.New(fault.Temporary, "the repository may be one that could not be opened: %w", closed)
	case found == nil:
		return nil, notFollowed, nil
	case history.RepositoryOf(found).Address() != stored.Address(): // a reconciliation found another name
		if found = found.Reopen(ctx); found.Err != nil {
			return nil, "", fmt.Errorf("open the repository: %w", found.Err)
		}
		if string(found.Key()) != key { // another repository has the name now
			return nil, notFollowed, nil
		}
	}
	return found, "", nil
}

// find returns a repository of the current refresh. If it is not there, closed is why some repository of the
// forge could not be opened, if one could not: it may be this one.
func (p permissions) find(ctx context.Context, key, forge string) (found *connect.Repository, closed, err error) {
	for again := false; ; again = true {
		current, release, err := p.refresher.acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		release()
		found, closed = current.repositories[key], current.unopened(forge)
		if found != nil || closed != nil || again || p.refresher.now().Sub(current.ready) <= minRefreshInterval {
			return found, closed, nil
		}
		if err := p.refresher.refresh(ctx, current.began); err != nil { // another replica may have found it
			return nil, nil, err
		}
	}
}

// refuseNotification returns why a destination gets no messages about a repository. It does not
// reveal whether there is such a destination.
func (p permissions) refuseNotification(ctx context.Context, key, destination string) (refused string, err error) {
	repository, refused, err := p.repository(ctx, key)
	if err != nil || refused != "" {
		return refused, err
	}
	if !p.refresher.connections.Server.MayNotify(destination, repository.Matches) {
		return fmt.Sprintf("there is no destination %q that this repository may use", destination), nil
	}
	return "", nil
}

// refuseLanding returns why a GitOps engine is not asked, or the destination that is.
func (p permissions) refuseLanding(
	ctx context.Context, request landingRequest,
) (entry serverconfig.AfterLanding, refused string, err error) {
	repository, refused, err := p.repository(ctx, request.repository)
	if err != nil || refused != "" {
		return entry, refused, err
	}
	entries := p.refresher.connections.Server.File.AfterLanding
	i := slices.IndexFunc(entries, func(one serverconfig.AfterLanding) bool { return one.Name == request.destination })
	if i < 0 || !repository.Matches(entries[i].Repositories) {
		return entry, "there is no such destination that this repository may use", nil
	}
	entry = entries[i]
	switch applies, err := p.appliesTo(ctx, entry, request); {
	case err != nil:
		return entry, "", err
	case !applies:
		return entry, fmt.Sprintf("it is not for %s in %s any more", request.applications(), request.environment), nil
	case (entry.ArgoCD == nil) != (request.subject == ""):
		return entry, "it is for another GitOps engine now", nil
	case entry.ArgoCD == nil:
		return entry, "", nil
	}
	refused, err = p.refuseArgoCD(ctx, repository, entry.ArgoCD.Receiver, request.subject)
	return entry, refused, err
}

// appliesTo reports whether a destination is for the target of a request, or for one of its targets.
func (p permissions) appliesTo(ctx context.Context, entry serverconfig.AfterLanding, request landingRequest) (bool, error) {
	if request.application != state.All {
		return entry.AppliesTo(request.environment, request.application), nil
	}
	targets, err := p.store.Targets.List(ctx, request.repository, request.environment, "")
	return slices.ContainsFunc(targets, func(t store.Target) bool {
		return entry.AppliesTo(t.Environment, t.Application)
	}), err
}

// refuseArgoCD returns why an Argo CD server is not asked about an Application: the receiver must
// report to the repository, and that the Application is deployed from it.
func (p permissions) refuseArgoCD(ctx context.Context, repository *connect.Repository, receiver, subject string) (string, error) {
	reports, err := newHealthReports(p.store, p.refresher.connections.Server, repository).Reports(ctx, []string{receiver})
	if err != nil {
		return "", fmt.Errorf("read the Applications of Argo CD: %w", err)
	}
	if !slices.ContainsFunc(reports, func(r health.Report) bool { return r.Source == health.ArgoCD && r.Subject == subject }) {
		return "no receiver reports the Application " + subject + " to this repository any more", nil
	}
	return "", nil
}
