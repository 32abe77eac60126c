package serverconfig

import (
	"cmp"
	"net"
	"net/mail"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

// Destination is where messages about promotions are sent. Exactly one of its services is set.
type Destination struct {
	config.Position
	Name         string
	Repositories []string // patterns of the repositories that may use it
	Slack        *Slack
	Teams        *WebhookURL
	Discord      *WebhookURL
	Mattermost   *Mattermost
	Email        *Email
	Webhook      *SignedWebhook
	CloudEvents  *SignedWebhook
}

// WebhookURL is a URL that is a secret: any client that knows it can send messages.
type WebhookURL struct{ URL Reference }

// Slack is a channel, by the token of an app or by the URL of an incoming webhook.
type Slack struct {
	Token   Reference
	Channel string
	URL     Reference
}

// Mattermost is a channel, by the token of a bot or by the URL of an incoming webhook.
type Mattermost struct {
	Server   string // without a slash at the end
	Token    Reference
	Channel  string
	URL      Reference
	Insecure bool
}

// Email is a mail server with the addresses of messages.
type Email struct {
	Server   string // HOST:PORT
	Username string
	Password Reference
	From     string
	To       []string
	TLS      EmailTLS
}

// EmailTLS is how the connection to a mail server is encrypted.
type EmailTLS string

// The values of email.tls.
const (
	EmailSTARTTLS EmailTLS = "starttls"
	EmailImplicit EmailTLS = "implicit"
	EmailNone     EmailTLS = "none"
)

// SignedWebhook is a URL that receives signed requests.
type SignedWebhook struct {
	URL      string
	Secret   Reference
	Insecure bool
}

// rawNotify is where messages about promotions are sent.
type rawNotify struct {
	strictyaml.Origin
	// Destinations, by the name that config files refer to. Each has exactly one service.
	Destinations strictyaml.Map[*rawDestination] `yaml:"destinations" required:"true"`
}

// rawDestination is a channel of one service, with the repositories that may use it.
type rawDestination struct {
	strictyaml.Origin
	// Globs of repositories that may send messages here: `HOST/OWNER/NAME`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
	// Slack: `token` with `channel`, or `url`.
	Slack *rawSlack `yaml:"slack"`
	// Microsoft Teams: a workflow that posts Adaptive Cards.
	Teams *rawWebhookURL `yaml:"teams"`
	// Discord: a webhook of the channel.
	Discord *rawWebhookURL `yaml:"discord"`
	// Mattermost: `server` with `token` and `channel`, or `url`.
	Mattermost *rawMattermost `yaml:"mattermost"`
	// Email by SMTP.
	Email *rawEmail `yaml:"email"`
	// Each event as signed JSON.
	Webhook *rawSignedWebhook `yaml:"webhook"`
	// Each event as a CDEvent, in a signed CloudEvent.
	CloudEvents *rawSignedWebhook `yaml:"cloudevents"`
}

// rawSlack is a Slack channel.
type rawSlack struct {
	strictyaml.Origin `holds:"secrets"`
	// Token of the bot user (`xoxb-…`) with the scope `chat:write`, by reference.
	Token strictyaml.Located[string] `yaml:"token"`
	// ID of the channel, such as `C0123456789`.
	Channel strictyaml.Located[string] `yaml:"channel"`
	// URL of an incoming webhook, by reference. Its messages are not updated.
	URL strictyaml.Located[string] `yaml:"url"`
}

// rawWebhookURL is a URL that is a secret.
type rawWebhookURL struct {
	strictyaml.Origin `holds:"secrets"`
	// URL, by reference: any client that knows it can send messages.
	URL strictyaml.Located[string] `yaml:"url" required:"true"`
}

// rawMattermost is a Mattermost channel.
type rawMattermost struct {
	strictyaml.Origin `holds:"secrets"`
	// URL of the server.
	Server strictyaml.Located[string] `yaml:"server"`
	// Access token of a bot account that is a member of the channel, by reference.
	Token strictyaml.Located[string] `yaml:"token"`
	// ID of the channel.
	Channel strictyaml.Located[string] `yaml:"channel"`
	// URL of an incoming webhook, by reference. Its messages are not updated.
	URL strictyaml.Located[string] `yaml:"url"`
	// Allow plain http to the server if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
}

// rawEmail is a mail server with the addresses of messages.
type rawEmail struct {
	strictyaml.Origin `holds:"secrets"`
	// Mail server: `HOST:PORT`.
	Server strictyaml.Located[string] `yaml:"server" required:"true"`
	// Username for the mail server. Default: none.
	Username strictyaml.Located[string] `yaml:"username"`
	// Password of the user, by reference.
	Password strictyaml.Located[string] `yaml:"password"`
	// Address of the sender.
	From strictyaml.Located[string] `yaml:"from" required:"true"`
	// Addresses of the recipients.
	To strictyaml.List `yaml:"to" required:"true"`
	// Encryption: `starttls` and `implicit` require TLS; `none` sends in plain text, only to addresses in `networks`. Default: `starttls`.
	TLS strictyaml.Located[string] `yaml:"tls" values:"starttls implicit none"`
}

// rawSignedWebhook is a URL that receives signed requests.
type rawSignedWebhook struct {
	strictyaml.Origin `holds:"secrets"`
	// URL that receives the requests.
	URL strictyaml.Located[string] `yaml:"url" required:"true"`
	// Secret that signs each request as Standard Webhooks define it, `whsec_` and Base64, by reference.
	Secret strictyaml.Located[string] `yaml:"secret" required:"true"`
	// Allow plain http if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
}

// services are the names of the keys of a destination that are services.
var services = []string{"slack", "teams", "discord", "mattermost", "email", "webhook", "cloudevents"}

func loadDestinations(in *input) []Destination {
	raw := in.raw.Notify
	if raw == nil || raw.Invalid {
		return nil
	}
	in.report.ErrorIf(len(raw.Destinations.Entries) == 0 && !raw.Destinations.Invalid, raw.Position,
		"add destinations: {NAME: …}", "notify has no destinations")
	field.CheckNames(in.report, "destination", raw.Destinations.Keys())
	var destinations []Destination
	for _, e := range raw.Destinations.Entries {
		if !e.Value.Invalid {
			destinations = append(destinations, loadDestination(in, e.Key, e.Value))
		}
	}
	slices.SortFunc(destinations, func(a, b Destination) int { return cmp.Compare(a.Name, b.Name) })
	return destinations
}

func loadDestination(in *input, name strictyaml.Located[string], raw *rawDestination) Destination {
	required(in.report, raw.Origin, "destination", "repositories", raw.Repositories)
	checkRepositoryPatterns(in.report, raw.Repositories, "repositories")
	one := Destination{Position: name.Position, Name: name.Value, Repositories: raw.Repositories.Strings()}
	count := 0
	if s := raw.Slack; s != nil {
		count++
		one.Slack = &Slack{Token: in.reference(s.Token, "slack.token"), Channel: s.Channel.Value, URL: in.reference(s.URL, "slack.url")}
		in.checkAccount("slack", s.Origin, s.URL, map[string]strictyaml.Located[string]{"token": s.Token, "channel": s.Channel})
	}
	if t := raw.Teams; t != nil {
		count++
		one.Teams = &WebhookURL{URL: in.requiredReference("teams", "url", t.Origin, t.URL)}
	}
	if d := raw.Discord; d != nil {
		count++
		one.Discord = &WebhookURL{URL: in.requiredReference("discord", "url", d.Origin, d.URL)}
	}
	if m := raw.Mattermost; m != nil {
		count++
		one.Mattermost = &Mattermost{
			Server: in.url(m.Server, "mattermost.server"), Token: in.reference(m.Token, "mattermost.token"), Channel: m.Channel.Value,
			URL: in.reference(m.URL, "mattermost.url"), Insecure: m.Insecure.Value,
		}
		in.checkAccount("mattermost", m.Origin, m.URL,
			map[string]strictyaml.Located[string]{"server": m.Server, "token": m.Token, "channel": m.Channel})
		in.checkHTTP("mattermost", m.Server, m.Insecure)
	}
	if e := raw.Email; e != nil {
		count++
		one.Email = loadEmail(in, e)
	}
	if w := raw.Webhook; w != nil {
		count++
		one.Webhook = loadSignedWebhook(in, "webhook", w)
	}
	if w := raw.CloudEvents; w != nil {
		count++
		one.CloudEvents = loadSignedWebhook(in, "cloudevents", w)
	}
	in.report.ErrorIf(count != 1 && !raw.HasUnknownKey(), name.Position, "write exactly one of "+strings.Join(services, ", "),
		"the destination %s has %d services", name.Value, count)
	return one
}

// checkAccount requires either all keys of an account, or the URL of an incoming webhook.
func (in *input) checkAccount(
	service string, section strictyaml.Origin, url strictyaml.Located[string], account map[string]strictyaml.Located[string],
) {
	var present, missing []string
	for key, value := range account {
		if value.IsSet() {
			present = append(present, key)
		}
		if !value.IsSet() || value.Valid() && value.Value == "" {
			missing = append(missing, key)
		}
	}
	slices.Sort(missing)
	switch {
	case section.Invalid || section.HasUnknownKey():
	case url.IsSet() && len(present) > 0:
		in.report.Errorf(url.Position, "keep one of the two ways", "%s has both a url and an account", service)
	case !url.IsSet() && len(missing) > 0:
		in.report.Errorf(section.Position, "add it, or write only url: the incoming webhook, by reference",
			"%s has no %s", service, strings.Join(missing, " and no "))
	}
}

func (in *input) requiredReference(section, key string, origin strictyaml.Origin, raw strictyaml.Located[string]) Reference {
	in.report.ErrorIf(!raw.IsSet() && !origin.Invalid && !origin.HasUnknownKey(), origin.Position,
		"add "+key+": env:NAME, or file:/PATH", "%s has no %s", section, key)
	return in.reference(raw, section+"."+key)
}

func loadSignedWebhook(in *input, service string, raw *rawSignedWebhook) *SignedWebhook {
	in.report.ErrorIf(!raw.URL.IsSet() && !raw.Invalid && !raw.HasUnknownKey(), raw.Position, "add url: https://HOST/PATH",
		"%s has no url", service)
	one := &SignedWebhook{
		URL: in.url(raw.URL, service+".url"), Secret: in.requiredReference(service, "secret", raw.Origin, raw.Secret),
		Insecure: raw.Insecure.Value,
	}
	in.report.ErrorIf(strings.HasPrefix(one.URL, "ssh:"), raw.URL.Position, "write https://HOST/PATH",
		"%s.url is not the address of a web server", service)
	in.checkHTTP(service, raw.URL, raw.Insecure)
	return one
}

func loadEmail(in *input, raw *rawEmail) *Email {
	email := &Email{
		Server: raw.Server.Value, Username: raw.Username.Value, Password: in.reference(raw.Password, "email.password"),
		From: raw.From.Value, To: raw.To.Strings(), TLS: EmailTLS(raw.TLS.Or(string(EmailSTARTTLS))),
	}
	if raw.Invalid {
		return email
	}
	host, port, err := net.SplitHostPort(raw.Server.Value)
	if err != nil || host == "" || port == "" {
		in.report.Errorf(strictyaml.FirstSet(raw.Server.Origin, raw.Origin), "write HOST:PORT, as in smtp.example.com:587",
			"email.server is not the address of a mail server")
	}
	required(in.report, raw.Origin, "mail destination", "to", raw.To)
	addresses := raw.To.Items
	if raw.From.IsSet() {
		addresses = append(slices.Clone(addresses), raw.From)
	} else {
		in.report.Errorf(raw.Position, "add from: ADDRESS", "email has no from")
	}
	for _, address := range addresses {
		if _, err := mail.ParseAddress(address.Value); address.Valid() && err != nil {
			in.report.Errorf(address.Position, "write NAME@DOMAIN, or NAME <NAME@DOMAIN>", "it is not the address of a mailbox")
		}
	}
	switch {
	case raw.Username.IsSet() != raw.Password.IsSet():
		in.report.Errorf(strictyaml.FirstSet(raw.Username.Origin, raw.Password.Origin), "write both, or none",
			"email has only one of username and password")
	case email.TLS == EmailNone && raw.Password.IsSet():
		in.report.Errorf(raw.TLS.Position, "use starttls or implicit", "a password is never sent in plain text")
	}
	nowhere := len(in.raw.Networks.Items) == 0
	in.report.ErrorIf(email.TLS == EmailNone && nowhere, raw.TLS.Position, "add networks with the network of the mail server",
		"plain text is only sent to addresses in networks, which is empty")
	return email
}
