package doctor

import (
	"context"

	"promoter/internal/api"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/serverfile"
)

const notifyFix = "see docs/guides/notifications.md"

// checkDestinations checks the destinations of notifications without a message, except to the one
// that gets a test message.
func checkDestinations(ctx context.Context, c *connect.Connections, test string, f *findings) error {
	found := test == ""
	for _, d := range c.Server.File.Destinations {
		found = found || d.Name == test
		subject := "destination " + d.Name
		if f.failed(subject) { // checkSecrets reported it
			continue
		}
		sender, err := c.NewSender(d)
		if err != nil {
			f.fail(subject, notifyFix, "%v", err)
			continue
		}
		text, err := sender.Check(ctx)
		if err == nil && d.Name == test {
			_, err = sender.Send(ctx, testMessage(c.Server), notify.Receipt{})
			text += "; sent a test message"
		}
		if err != nil {
			f.fail(subject, fixFor(err, notifyFix), "%v", err)
			continue
		}
		f.ok(subject, "%s", text)
	}
	if !found {
		return fault.New(fault.Invalid, "the server file has no destination %q for the test message", test)
	}
	return nil
}

// testMessage is a message about nothing.
func testMessage(s *serverfile.Server) notify.Message {
	now := s.Now()
	return notify.Message{
		ID: "test", Repository: "example.com/acme/gitops", Environment: "staging", Application: "shop", Snapshot: "test",
		Page: s.File.URL, Test: true,
		Versions: []notify.Change{{Component: "web", Repository: "registry.example.com/acme/web", From: "1.4.1", To: "1.4.2"}},
		Events: []notify.Event{{
			ID: "test-" + now.UTC().Format("20060102150405"), State: notify.Proposed, At: now, Rule: "test",
			Reason: "a user tries this destination with promoter doctor",
		}},
	}
}

// checkSent warns about destinations that did not get messages of the running service.
func checkSent(status api.Status, f *findings) {
	for _, one := range status.Notifications {
		if one.Failed > 0 {
			f.warn("destination "+one.Destination, notifyFix, "%d messages of the service were not sent, the last one at %s: %s",
				one.Failed, one.FailedAt.UTC().Format("2006-01-02T15:04:05Z"), one.Error)
		}
	}
}

// destinationReferences are the secrets of a destination of notifications.
func destinationReferences(d serverconfig.Destination) []serverconfig.Reference {
	switch {
	case d.Slack != nil:
		return []serverconfig.Reference{d.Slack.Token, d.Slack.URL}
	case d.Teams != nil:
		return []serverconfig.Reference{d.Teams.URL}
	case d.Discord != nil:
		return []serverconfig.Reference{d.Discord.URL}
	case d.Mattermost != nil:
		return []serverconfig.Reference{d.Mattermost.Token, d.Mattermost.URL}
	case d.Email != nil:
		return []serverconfig.Reference{d.Email.Password}
	case d.Webhook != nil:
		return []serverconfig.Reference{d.Webhook.Secret}
	case d.CloudEvents != nil:
		return []serverconfig.Reference{d.CloudEvents.Secret}
	}
	return nil
}
