package doctor

import (
	"context"
	"slices"

	"promoter/internal/api"
	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/health"
	"promoter/internal/receiver"
)

// checkHealth checks that the receivers that a config names can report health for it.
func checkHealth(file *serverconfig.Config, r *connect.Repository, loaded *config.Config, subject string, f *findings) {
	kinds := map[string]string{health.ArgoCD: "argocd", health.Flux: "flux", health.API: "evidence"}
	checked := map[string]bool{"": true}
	for _, monitored := range loaded.Healths() {
		if checked[monitored.From] {
			continue
		}
		checked[monitored.From] = true
		i := slices.IndexFunc(file.Receivers, func(entry serverconfig.Receiver) bool { return entry.Name == monitored.From })
		wanted := kinds[monitored.Source()]
		switch {
		case i < 0:
			f.warn(subject, "add it to receivers, with kind: "+wanted,
				"health is never known: from names the receiver %s, which the server file does not have", monitored.From)
		case file.Receivers[i].Kind != wanted:
			f.warn(subject, "name one with kind: "+wanted,
				"health is never known: from names the receiver %s, which is of the kind %s", monitored.From, file.Receivers[i].Kind)
		case file.Receivers[i].Repositories != nil && !r.Matches(file.Receivers[i].Repositories):
			f.warn(subject, "add the repository to repositories of the receiver",
				"health is never known: the receiver %s reports for other repositories", monitored.From)
		}
	}
}

// checkReports warns about receivers of reports about health at which none arrived, and about
// notifications that were not sent. Only the running service knows that.
func checkReports(ctx context.Context, file *serverconfig.Config, running func(context.Context) (api.Status, error), f *findings) {
	reports := slices.ContainsFunc(file.Receivers, func(entry serverconfig.Receiver) bool {
		kind, _ := receiver.Find(entry.Kind)
		return kind.Health
	})
	if running == nil || !reports && len(file.Destinations) == 0 {
		return
	}
	status, err := running(ctx)
	if err != nil {
		f.ok("receivers", "the service was not asked whether they report health and whether notifications are sent: %v", err)
		return
	}
	checkSent(status, f)
	if !reports {
		return
	}
	for _, one := range status.Receivers {
		subject := "receiver " + one.Receiver
		switch {
		case one.Failing != "":
			f.warn(subject, "see docs/webhooks.md", "the service cannot poll it: %s", one.Failing)
		case one.SetUp != "" && one.Kind != "": // the repositories that name one that does not exist report it
			f.warn(subject, one.SetUp, "no report about health arrived")
		case one.Kind != "":
			f.ok(subject, "the last report about health arrived at %s", one.ReportedAt.UTC().Format("2006-01-02T15:04:05Z"))
		}
	}
}
