package app

import (
	"log/slog"
	"net/http"

	"promoter/internal/connect"
)

// appCreated starts to use a GitHub App: its webhooks now, and its repositories with the
// next refresh, which GitHub's webhook about the installation triggers.
func (s *service) appCreated(forge string, stored connect.StoredApp) []string {
	s.Log.Info("GitHub App created", slog.String("forge", forge), slog.String("app", stored.Slug), slog.Int64("id", stored.ID), slog.String("owner", stored.Owner))
	s.rounds.outdate()
	const waits = "promoter sees the repositories with the next poll."
	entry, hooked := s.server.AppReceiver(forge)
	if !hooked {
		return []string{"Nothing needs to be restarted.", waits}
	}
	receiver, err := s.server.NewReceiver(entry, http.DefaultClient) // receivers of this kind fetch no keys
	if err != nil {
		s.Log.Error("the webhooks of the App are not accepted", slog.Any("error", err))
		return []string{"Restart promoter: it cannot accept the webhooks of the App yet. The log has the error."}
	}
	s.http.Add(receiver)
	return []string{"Nothing needs to be restarted: promoter starts to work on the repositories on which you install the App."}
}
