package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/scm/github"
)

// apps compares the GitHub App of each forge with what promoter needs of one.
func (d *doctor) apps(ctx context.Context, session *connect.Session) {
	for _, c := range d.server.Forges() {
		f := session.Forge(c.Name)
		if f.Err != nil || f.App == nil {
			continue // it is said with its repositories
		}
		subject := "forge " + c.Name
		lacks, err := f.App.GitHub.Lacks(ctx)
		if err != nil {
			d.say(VerdictFail, subject, fixOf(err, "see docs/github.md"), "%v", err)
			continue
		}
		d.permissions(subject, lacks)
		if d.told(c) {
			d.events(subject, lacks)
		}
	}
}

func (d *doctor) permissions(subject string, lacks github.Lacks) {
	accept := "add them at " + lacks.At + ", then an owner of each account accepts them"
	if len(lacks.Always) > 0 {
		d.say(VerdictFail, subject, accept, "the App %s does not ask for permissions that are always needed: %s", lacks.App, named(lacks.Always, false))
	}
	if len(lacks.Sometimes) > 0 {
		d.say(VerdictWarn, subject, "if so, "+accept, "the App %s does not ask for permissions that are needed sometimes: %s", lacks.App, named(lacks.Sometimes, true))
	}
	if len(lacks.Always)+len(lacks.Sometimes) == 0 {
		d.say(VerdictOK, subject, "", "the App %s asks for the permissions that are needed", lacks.App)
	}
}

// named joins permissions for a sentence, with when they are needed.
func named(permissions []github.Permission, when bool) string {
	var names []string
	for _, p := range permissions {
		name := p.String()
		if when {
			name += fmt.Sprintf(" (if %s)", p.Optional)
		}
		names = append(names, name)
	}
	return strings.Join(names, "; ")
}

// told says whether the App of a forge is to send webhooks: its own receiver waits
// for them, or one that takes GitHub's.
func (d *doctor) told(c serverconfig.Forge) bool {
	_, own := d.server.AppReceiver(c.Name)
	return own || slices.ContainsFunc(d.file.Receivers, func(r serverconfig.Receiver) bool { return r.Kind == "github" && r.App == "" })
}

func (d *doctor) events(subject string, lacks github.Lacks) {
	if len(lacks.Events) == 0 {
		d.say(VerdictOK, subject, "", "the App %s subscribes to the events that are needed", lacks.App)
		return
	}
	d.say(VerdictWarn, subject, "tick them at "+lacks.At+", unless a webhook of the organization or the repositories tells of them",
		"the App %s does not subscribe to %s: what they tell is found by the poll alone, every %v", lacks.App, strings.Join(lacks.Events, ", "), d.file.Poll)
}
