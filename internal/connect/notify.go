package connect

import (
	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/outbound"
	"promoter/internal/secret"
	"promoter/internal/serverfile"
)

// NotificationSender returns the sender of a destination, or a NotFound fault. Its secrets are read
// each time, so that a new one needs no restart.
func (c *Connections) NotificationSender(destination string) (notify.Sender, error) {
	d, known := c.Server.Destination(destination)
	if !known {
		return nil, fault.New(fault.NotFound, "there is no destination %q any more", destination)
	}
	return c.NewSender(d)
}

// NewSender makes the sender of a destination, and reads its secrets. It sends nothing.
func (c *Connections) NewSender(d serverconfig.Destination) (notify.Sender, error) {
	transport, read := c.HTTP.Notifications, &secretReader{server: c.Server}
	var sender notify.Sender
	var err error
	switch {
	case d.Slack != nil:
		sender = notify.NewSlack(notify.SlackOptions{
			Transport: transport, Token: read.secret(d.Slack.Token), Channel: d.Slack.Channel, URL: read.secret(d.Slack.URL),
		})
	case d.Teams != nil:
		sender = notify.NewTeams(transport, read.secret(d.Teams.URL))
	case d.Discord != nil:
		sender = notify.NewDiscord(transport, read.secret(d.Discord.URL))
	case d.Mattermost != nil:
		sender = notify.NewMattermost(notify.MattermostOptions{
			Transport: transport, Server: d.Mattermost.Server, Token: read.secret(d.Mattermost.Token), Channel: d.Mattermost.Channel,
			URL: read.secret(d.Mattermost.URL),
		})
	case d.Email != nil:
		sender = c.newEmail(d.Email, read.secret(d.Email.Password))
	case d.Webhook != nil:
		options := c.signedOptions(d.Webhook, read)
		if read.err == nil {
			sender, err = notify.NewWebhook(options)
		}
	case d.CloudEvents != nil:
		options := c.signedOptions(d.CloudEvents, read)
		if read.err == nil {
			sender, err = notify.NewCloudEvents(options, c.Server.File.URL)
		}
	}
	if read.err != nil {
		return nil, read.err
	}
	return sender, err
}

func (c *Connections) signedOptions(w *serverconfig.SignedWebhook, read *secretReader) notify.SignedOptions {
	return notify.SignedOptions{Transport: c.HTTP.Notifications, URL: w.URL, Secret: read.secret(w.Secret), Now: c.Server.Now}
}

func (c *Connections) newEmail(e *serverconfig.Email, password secret.String) notify.Sender {
	options := notify.EmailOptions{
		Dial: c.HTTP.Notifications.DialContext, Server: e.Server, Username: e.Username, Password: password, From: e.From,
		To: e.To, Now: c.Server.Now,
	}
	switch e.TLS {
	case serverconfig.EmailImplicit:
		options.TLS = notify.ImplicitTLS
	case serverconfig.EmailNone:
		options.TLS, options.Dial = notify.PlainText, c.HTTP.Notifications.DialListedContext
	case serverconfig.EmailSTARTTLS:
		options.TLS = notify.STARTTLS
	}
	return notify.NewEmail(options)
}

// insecureDestinations are the hosts of destinations that may be asked over plain HTTP.
func insecureDestinations(file *serverconfig.Config) (hosts []string) {
	add := func(insecure bool, address string) {
		if insecure {
			hosts = append(hosts, outbound.Host(address))
		}
	}
	for _, d := range file.Destinations {
		switch {
		case d.Mattermost != nil:
			add(d.Mattermost.Insecure, d.Mattermost.Server)
		case d.Webhook != nil:
			add(d.Webhook.Insecure, d.Webhook.URL)
		case d.CloudEvents != nil:
			add(d.CloudEvents.Insecure, d.CloudEvents.URL)
		}
	}
	return hosts
}

// secretReader reads secrets, and keeps the first error.
type secretReader struct {
	server *serverfile.Server
	err    error
}

func (r *secretReader) secret(reference serverconfig.Reference) secret.String {
	value, err := r.server.Secret(reference)
	if r.err == nil {
		r.err = err
	}
	return value
}
