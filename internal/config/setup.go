package config

import "regexp"

// organizationName is the login of an organization of GitHub.
var organizationName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$`)

// appOfSetup checks an App that a click makes. Its credentials lie in the data
// folder, which replicas do not share, and GitHub has to lead the browser back.
func (l *serverLoader) appOfSetup(raw *rawApp) {
	if raw.ID.set() || raw.Key.set() {
		l.failf(raw.Setup.Position, "keep id and key, or setup alone", "app has both a key and setup")
	}
	if l.raw.Database != nil && l.raw.Database.URL.set() {
		l.failf(raw.Setup.Position, "make the App with 'promoter app create', and write its id and key here",
			"setup keeps the App in the data folder, which the replicas that share a PostgreSQL database do not share")
	}
	if !l.raw.URL.set() {
		l.failf(raw.Setup.Position, "write url: https://HOST", "setup needs the url at which GitHub leads the browser back to promoter")
	}
	if raw.Organization.ok() && !organizationName.MatchString(raw.Organization.Value) {
		l.failf(raw.Organization.Position, "write it as it stands in its address", "that is not the name of an organization")
	}
}

// receiverApp checks that the forge whose App sends webhooks has one by setup, and
// that there is one address for them: an App has one webhook.
func (l *serverLoader) receiverApp(name at[string], raw *rawReceiver) {
	if !raw.App.ok() {
		return
	}
	for _, e := range l.raw.Forges.Entries {
		if e.Key.Value == raw.App.Value && !e.Value.bad && e.Value.App != nil && e.Value.App.Setup.set() {
			l.oneReceiver(name, raw)
			return
		}
	}
	l.failf(raw.App.Position, "name a forge with app: {setup: ...}, or write secret",
		"the receiver %s wants the App of the forge %q, which none has by setup", name.Value, raw.App.Value)
}

func (l *serverLoader) oneReceiver(name at[string], raw *rawReceiver) {
	for _, other := range l.server.Receivers {
		if other.App == raw.App.Value {
			l.failf(raw.App.Position, "keep one of them", "the receivers %s and %s want the App of one forge, which has one webhook", other.Name, name.Value)
			return
		}
	}
}
