package connect

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/serverfile"
)

const destinations = `version: 1
forges:
  github: {kind: github, token: "env:SECRET"}
NETWORKS
notify:
  destinations:
    slack: {repositories: ["github.com/acme/*"], slack: {token: "env:SECRET", channel: C1}}
    slack-hook: {repositories: ["github.com/acme/*"], slack: {url: "env:SECRET"}}
    teams: {repositories: ["github.com/acme/*"], teams: {url: "env:SECRET"}}
    discord: {repositories: ["github.com/acme/*"], discord: {url: "env:SECRET"}}
    mattermost: {repositories: ["github.com/acme/*"], mattermost: {server: "https://chat.example.com", token: "env:SECRET", channel: c1}}
    mattermost-hook: {repositories: ["github.com/acme/*"], mattermost: {url: "env:SECRET"}}
    mail: {repositories: ["github.com/acme/*"], email: {server: "ADDRESS", tls: none, from: a@example.com, to: [b@example.com]}}
    program: {repositories: ["github.com/acme/*"], webhook: {url: "https://example.com/hook", secret: "env:KEY"}}
    broker: {repositories: ["github.com/other/*"], cloudevents: {url: "https://events.example.com", secret: "env:KEY"}}
`

// notifying returns the connections of a server file with one destination of each service. The mail
// server has an address in a private network.
func notifying(t *testing.T, networks, address string, env map[string]string) *Connections {
	t.Helper()
	file := filepath.Join(t.TempDir(), "promoter-server.yaml")
	if err := os.WriteFile(file, []byte(strings.NewReplacer("NETWORKS", networks, "ADDRESS", address).Replace(destinations)), 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }
	s, err := serverfile.OpenFile(serverfile.Options{Config: file, Env: lookup, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(s, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNotificationSender_ofEachService(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SECRET": "https://example.com/secret", "KEY": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
	c := notifying(t, "networks: [192.0.2.0/24]", "192.0.2.1:25", env)
	modes := map[string]notify.Mode{}
	for _, d := range c.Server.File.Destinations {
		sender, err := c.NotificationSender(d.Name)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		modes[d.Name] = sender.Mode()
	}
	want := map[string]notify.Mode{
		"slack": notify.Updated, "slack-hook": notify.Announced, "teams": notify.Announced, "discord": notify.Updated, "mattermost": notify.Updated,
		"mattermost-hook": notify.Announced, "mail": notify.Announced, "program": notify.Streamed, "broker": notify.Streamed,
	}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := c.NotificationSender("removed"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("err = %v", err)
	}
	env["KEY"] = "whsec_weak" // it is read again
	if _, err := c.NotificationSender("program"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("err = %v", err)
	}
	delete(env, "SECRET")
	if _, err := c.NotificationSender("teams"); err == nil || !strings.Contains(err.Error(), "SECRET") {
		t.Errorf("err = %v", err)
	}
}

// Only repositories that a destination lists may use it.
func TestServer_mayNotify(t *testing.T) {
	t.Parallel()
	s := notifying(t, "networks: [192.0.2.0/24]", "192.0.2.1:25", nil).Server
	r := &Repository{Name: "acme/gitops", name: rules.Name{Text: "github.com/acme/gitops"}}
	for destination, want := range map[string]bool{"slack": true, "broker": false, "none": false} {
		if got := s.MayNotify(destination, r.Matches); got != want {
			t.Errorf("%s: %v", destination, got)
		}
	}
}

// Mail in plain text goes only to a listed network, also where a name resolves to another address.
func TestNewSender_plainMailOnlyToListedNetworks(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	sender, err := notifying(t, "networks: [192.0.2.0/24]", listener.Addr().String(), nil).NotificationSender("mail")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sender.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "refused without TLS") {
		t.Errorf("err = %v", err)
	}
}
