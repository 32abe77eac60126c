package doctor

import (
	"context"
	"slices"

	"promoter/internal/api"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/receiver"
)

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
