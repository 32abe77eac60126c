package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/config/setting"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/gitopsengine"
	"promoter/internal/health"
	"promoter/internal/queue"
	"promoter/internal/service/history"
	"promoter/internal/state"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// afterLanding asks GitOps engines to deploy what landed, where the server file configures that.
// The requests are work of the queue, stored in the transaction that adds the landing to the
// history: each landing leads to them once, whichever replica sees it first. A failure delays no
// reconciliation. It is a note: a log line, a metric, and an event of the history.
type afterLanding struct {
	connections *connect.Connections
	db          *database.DB
	queue       *queue.Queue
	store       *store.Store
	permissions permissions
	metrics     *telemetry.Metrics
	dryRun      bool
	log         *slog.Logger
	now         func() time.Time
}

// maxLandingAttempts is how often a request is sent before it is given up, within some minutes.
// An engine also finds by itself what landed.
const maxLandingAttempts = 5

// landingRequest is one request, as it is the key of the work. Those of several applications, for
// an engine that deploys them together, are one.
type landingRequest struct {
	destination string // of afterLanding in the server file
	repository  string // its key
	environment string
	application string // state.All: of several
	subject     string // the Application of Argo CD; empty: it is about the whole environment
}

func (r landingRequest) key() (string, error) {
	text, err := json.Marshal([]string{r.destination, r.repository, r.environment, r.application, r.subject})
	return string(text), fault.Wrap(fault.Internal, err)
}

func parseLandingRequest(key string) (r landingRequest, ok bool) {
	var parts []string
	if json.Unmarshal([]byte(key), &parts) != nil || len(parts) != 5 {
		return landingRequest{}, false
	}
	return landingRequest{
		destination: parts[0], repository: parts[1], environment: parts[2], application: parts[3], subject: parts[4],
	}, true
}

// landingRequests are requests by the identity of the landings that lead to them.
type landingRequests map[string][]landingRequest

// triggerIn triggers the requests that events lead to which a transaction added to the history.
func (a afterLanding) triggerIn(ctx context.Context, tx *database.Tx, requests landingRequests, added []store.Event) error {
	applications := map[landingRequest]string{} // of requests that differ only in it
	for _, e := range added {
		for _, one := range requests[e.Identity()] {
			application := one.application
			one.application = ""
			if before, found := applications[one]; found && before != application {
				application = state.All
			}
			applications[one] = application
		}
	}
	var triggers []queue.Trigger
	for one, application := range applications {
		one.application = application
		key, err := one.key()
		if err != nil {
			return err
		}
		triggers = append(triggers, queue.Trigger{Kind: kindAfterLanding, Key: key, Urgent: true})
	}
	return a.queue.TriggerIn(ctx, tx, triggers...)
}

// requests returns the requests that events of a repository lead to, if they are landings.
func (a afterLanding) requests(
	ctx context.Context, repository *connect.Repository, c *config.Config, events []store.Event,
) (landingRequests, error) {
	var entries []serverconfig.AfterLanding
	var receivers []string
	for _, entry := range a.connections.Server.File.AfterLanding {
		if !repository.Matches(entry.Repositories) {
			continue
		}
		if entries = append(entries, entry); entry.ArgoCD != nil {
			receivers = append(receivers, entry.ArgoCD.Receiver)
		}
	}
	events = slices.DeleteFunc(slices.Clone(events), func(e store.Event) bool { return !e.IsLanding() })
	if len(entries) == 0 || len(events) == 0 || c == nil || a.dryRun {
		return nil, nil
	}
	reports, err := newHealthReports(a.store, a.connections.Server, repository).Reports(ctx, receivers)
	if err != nil {
		return nil, fmt.Errorf("read the Applications of Argo CD: %w", err)
	}
	requests := landingRequests{}
	for _, e := range events {
		monitored := c.Settings(e.Environment, e.Application).Health
		for _, entry := range entries {
			if !entry.AppliesTo(e.Environment, e.Application) {
				continue
			}
			subjects := []string{""}
			if entry.ArgoCD != nil {
				if monitored == nil || monitored.From != entry.ArgoCD.Receiver {
					continue
				}
				subjects = argoCDApplications(monitored, reports, e)
			}
			for _, subject := range subjects {
				requests[e.Identity()] = append(requests[e.Identity()],
					landingRequest{entry.Name, e.Repository, e.Environment, e.Application, subject})
			}
		}
	}
	return requests, nil
}

// argoCDApplications returns the Applications of Argo CD that the health of a target names, of those
// that a receiver reports to be deployed from the repository.
func argoCDApplications(h *setting.Health, reports []health.Report, e store.Event) (subjects []string) {
	for _, report := range reports {
		if h.Matches(report, e.Environment, e.Application) {
			subjects = append(subjects, report.Subject)
		}
	}
	slices.Sort(subjects)
	return slices.Compact(subjects)
}

// applications names the applications of a request.
func (r landingRequest) applications() string {
	if r.application == state.All {
		return "these applications"
	}
	return r.application
}

// handle sends one request. The queue retries an error with a growing delay.
func (a afterLanding) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	request, ok := parseLandingRequest(item.Key)
	if !ok { // another release wrote it
		return queue.Result{Forget: true}, nil
	}
	repository, err := a.store.Repository(ctx, request.repository)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return queue.Result{}, err
	}
	log := a.log.With(slog.String("repository", repository.Name), slog.String("key", request.repository))
	log = log.With(slog.String("environment", request.environment), slog.String("application", request.application))
	log = log.With(slog.String("destination", request.destination))
	what, retry, err := a.trySend(ctx, request, repository)
	switch {
	case err == nil:
		a.metrics.AfterLanding(request.destination, true)
		log.InfoContext(ctx, what)
		return queue.Result{Forget: true}, nil
	case ctx.Err() != nil || retry && item.Attempt < maxLandingAttempts:
		return queue.Result{}, err
	}
	// The history first: it refuses the event while the database is away, and the request is sent again.
	if repository.Key != "" { // else its targets are not known any more
		if noted := a.note(ctx, request, repository, err); noted != nil {
			return queue.Result{}, noted
		}
	}
	a.metrics.AfterLanding(request.destination, false)
	log.WarnContext(ctx, "after landing failed", slog.Any("error", err))
	return queue.Result{Forget: true}, nil
}

// isTransient reports whether a retry may succeed.
func isTransient(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Unauthorized:
		return false
	}
	return true
}

// trySend sends a request if the server file permits it now. It returns what was done, for the log, or
// whether a retry may succeed.
func (a afterLanding) trySend(
	ctx context.Context, request landingRequest, repository store.Repository,
) (done string, retry bool, err error) {
	entry, refused, err := a.permissions.refuseLanding(ctx, request)
	switch {
	case err != nil:
		return "", true, fmt.Errorf("find out whether it may be sent: %w", err)
	case refused != "": // a replica with the server file of before may have it
		return "", true, fault.New(fault.Unauthorized, "not sent: %s", refused)
	}
	done, err = a.send(ctx, entry, request, repository)
	return done, isTransient(err), err
}

// send sends a request. It returns what was done, for the log.
func (a afterLanding) send(
	ctx context.Context, entry serverconfig.AfterLanding, request landingRequest, repository store.Repository,
) (done string, err error) {
	if entry.Flux != nil {
		flux, err := a.connections.Flux(entry)
		if err != nil {
			return "", err
		}
		return "triggered Flux", flux.Post(ctx,
			gitopsengine.Landing{Repository: repository.Host + "/" + repository.Name, Environment: request.environment})
	}
	_, argoCD, err := a.connections.ArgoCD(entry.ArgoCD.Receiver)
	if err != nil {
		return "", err
	}
	if entry.ArgoCD.Action == serverconfig.ArgoCDSync {
		return "synced Argo CD", argoCD.Sync(ctx, request.subject)
	}
	return "refreshed Argo CD", argoCD.Refresh(ctx, request.subject)
}

// note adds a request that failed to the history of the target.
func (a afterLanding) note(ctx context.Context, request landingRequest, repository store.Repository, failed error) error {
	event := store.Event{
		At: a.now(), Repository: request.repository, Name: repository.Host + "/" + repository.Name,
		Environment: request.environment, Application: request.application,
		Action: store.EventAfterLanding, Message: request.destination + ": " + failed.Error(),
	}
	return a.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, err := a.store.AddEvents(ctx, tx, []store.Event{event})
		return err
	})
}

// newLandings returns those of the events that may have landed just now. What is on a branch
// whose history is read for the first time may have landed long ago.
func newLandings(c *config.Config, defaultBranch string, landings history.Landings, events []store.Event) []store.Event {
	if c == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(events), func(e store.Event) bool {
		environment, known := c.Environment(e.Environment)
		return !known || e.Action == store.EventLanded && landings.IsFirst(cmp.Or(environment.Branch, defaultBranch))
	})
}
