package adminapi

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"promoter/internal/api"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/queue"
	"promoter/internal/receiver"
	"promoter/internal/service"
	"promoter/internal/store"
)

// receivers returns the receivers of reports about health: those of the server file, and those
// that a config names, with what is missing.
func (a *API) receivers(ctx context.Context, repositories []store.Repository) ([]api.Receiver, error) {
	follows, err := a.Store.HealthSubscriptions(ctx, "")
	if err != nil {
		return nil, err
	}
	last, err := a.Store.Health.LastReports(ctx)
	if err != nil {
		return nil, err
	}
	polls, err := a.Queue.Entries(ctx, service.KindHealth, "", entriesPerPage)
	if err != nil {
		return nil, err
	}
	return receiversOf(a.Connections.Server.File, repositories, follows, last, polls), nil
}

func receiversOf(
	file *serverconfig.Config, repositories []store.Repository, follows map[string][]store.Health, last map[string]time.Time,
	polls []queue.Entry,
) []api.Receiver {
	named := map[string][]string{} // repositories by receiver
	for _, r := range repositories {
		for _, one := range follows[r.Key] {
			if name := r.Address(); !slices.Contains(named[one.Receiver], name) {
				named[one.Receiver] = append(named[one.Receiver], name)
			}
		}
	}
	all := []api.Receiver{}
	for _, entry := range file.Receivers {
		kind, _ := receiver.Find(entry.Kind)
		if !kind.Health && named[entry.Name] == nil {
			continue
		}
		at := last[entry.Name]
		if !at.IsZero() {
			at = at.UTC()
		}
		shown := api.Receiver{
			Receiver: entry.Name, Kind: entry.Kind, Repositories: append([]string{}, named[entry.Name]...), ReportedAt: at,
		}
		for _, work := range polls {
			if work.Key == entry.Name && entry.Poll != nil {
				shown.Next, shown.Failing = work.NotBefore, work.LastError
			}
		}
		delete(named, entry.Name)
		shown.SetUp = setUp(file, entry, kind.Health, shown)
		all = append(all, shown)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		all = append(all, api.Receiver{
			Receiver: name, Repositories: named[name],
			SetUp: "health.from names it, and the server file does not have it: add it to receivers",
		})
	}
	return all
}

// setUp returns what a receiver is missing; empty: nothing.
func setUp(file *serverconfig.Config, entry serverconfig.Receiver, reports bool, shown api.Receiver) string {
	address := cmp.Or(file.URL, "https://HOST")
	switch {
	case !reports:
		return "health.from names it, and a receiver of the kind " + entry.Kind + " reports no health"
	case len(shown.Repositories) == 0:
		return "no config names it: write from: " + entry.Name + " into health of an environment"
	case !shown.ReportedAt.IsZero() || shown.Failing != "":
		return ""
	case entry.Poll != nil:
		return "no Application in Argo CD is deployed from these repositories: check its spec.source.repoURL, and what the token may get"
	case entry.Kind == "argocd":
		return "let the notifications of Argo CD post to " + address + "/webhooks/" + entry.Name + " (docs/guides/health-argocd.md)"
	case entry.Kind == "flux":
		return "let an Alert of Flux post to " + address + "/webhooks/" + entry.Name + " (docs/guides/health-flux.md)"
	default:
		return "post reports to " + address + "/api/v1/evidence with its secret (docs/webhooks.md)"
	}
}
