package serverconfig_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/verb"
)

func reference(t *testing.T, text string) serverconfig.Reference {
	t.Helper()
	r, err := serverconfig.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func times(t *testing.T, spec schedule.TimesSpec) schedule.Times {
	t.Helper()
	made, err := schedule.NewTimes(spec)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestLoad_full(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../config/examples/server-full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, problems := serverconfig.Load("server.yaml", data, noEnv)
	if got == nil {
		t.Fatal(problems)
	}
	want := &serverconfig.Config{
		File: "server.yaml", Listen: ":8080", URL: "https://promoter.example.com", Data: "/var/lib/promoter", Poll: 5 * time.Minute,
		Database:  serverconfig.Database{URL: reference(t, "env:DATABASE_URL")},
		Metrics:   serverconfig.Metrics{Listen: "127.0.0.1:9090"},
		API:       serverconfig.API{Token: reference(t, "file:/run/secrets/promoter-api")},
		TLS:       serverconfig.TLS{Certificate: reference(t, "file:/run/secrets/tls/tls.crt"), Key: reference(t, "file:/run/secrets/tls/tls.key")},
		Retention: serverconfig.Retention{Deliveries: 14 * 24 * time.Hour, DeliveriesSize: 2 << 30, History: 730 * 24 * time.Hour},
		Signing:   serverconfig.Signing{Key: reference(t, "file:/run/secrets/signing-key"), Passphrase: reference(t, "env:SIGNING_PASSPHRASE")},
		Traces: serverconfig.Traces{
			Endpoint: "https://otlp.example.com", Ratio: 0.25, Service: "promoter",
			Headers: []serverconfig.Header{{Name: "Authorization", Value: reference(t, "env:OTLP_AUTHORIZATION")}},
		},
		Forges: []serverconfig.Forge{
			{Name: "github", Kind: serverconfig.ForgeGitHub, URL: "https://github.com", App: &serverconfig.App{ID: 123456, Key: reference(t, "file:/run/secrets/github-app.pem")}},
			{Name: "forgejo", Kind: serverconfig.ForgeGitea, URL: "https://git.example.com", Token: reference(t, "env:FORGEJO_TOKEN")},
			{
				Name: "backup", Kind: serverconfig.ForgeGit, URL: "ssh://git@git.internal.example.com",
				SSHKey: reference(t, "file:/run/secrets/id_ed25519"), KnownHosts: reference(t, "file:/etc/promoter/known_hosts"),
			},
		},
		Repositories: []serverconfig.Repository{{Forge: "forgejo", Name: "acme/gitops"}, {Forge: "backup", Name: "acme/gitops"}},
		Onboarding:   []string{"github.com/acme/*"},
		Registries: []serverconfig.Registry{
			{Host: "quay.io", Username: "acme+promoter", Password: reference(t, "env:QUAY_PASSWORD"), UsableBy: []string{"github.com/acme/*"}},
			{Host: "registry.internal.example.com:5000", Insecure: true},
			{Host: "docker.io", Poll: times(t, schedule.TimesSpec{Every: 6 * time.Hour})},
			{
				Host: "123456789012.dkr.ecr.eu-central-1.amazonaws.com", UsableBy: []string{"github.com/acme/*"},
				Login: serverconfig.Login{Provider: serverconfig.ProviderAWS, Role: "arn:aws:iam::123456789012:role/ecr-read"},
			},
			{
				Host: "europe-west1-docker.pkg.dev", UsableBy: []string{"github.com/acme/*"},
				Login: serverconfig.Login{Provider: serverconfig.ProviderGoogle, Key: reference(t, "file:/run/secrets/google.json")},
			},
			{
				Host: "acme.azurecr.io", UsableBy: []string{"github.com/acme/*"},
				Login: serverconfig.Login{Provider: serverconfig.ProviderAzure, Tenant: "acme.onmicrosoft.com", Client: "66666666-7777-8888-9999-000000000000", Secret: reference(t, "env:AZURE_SECRET")},
			},
		},
		Sources: []serverconfig.Source{{
			Position: config.Position{File: "server.yaml", Line: 58, Column: 5}, Repositories: []string{"github.com/acme/shop-*"}, UsableBy: []string{"github.com/acme/gitops"},
		}},
		Receivers: []serverconfig.Receiver{
			{Name: "quay", Kind: "quay", PathSecret: reference(t, "file:/run/secrets/quay-hook")},
			{Name: "harbor", Kind: "harbor", Secret: reference(t, "env:HARBOR_HOOK"), Header: "Authorization"},
			{Name: "github", Kind: "github", Secret: reference(t, "env:GITHUB_HOOK")},
			{Name: "google", Kind: "gar", Audience: "https://promoter.example.com", Email: "push@acme.iam.gserviceaccount.com"},
		},
		Destinations: []serverconfig.Destination{
			{Name: "events", Repositories: []string{"github.com/acme/*"}, CloudEvents: &serverconfig.SignedWebhook{URL: "https://events.example.com", Secret: reference(t, "env:EVENTS_SECRET")}},
			{Name: "releases", Repositories: []string{"github.com/acme/*"}, Slack: &serverconfig.Slack{Token: reference(t, "file:/run/secrets/slack-token"), Channel: "C0123456789"}},
		},
		Permissions: []serverconfig.Permission{
			{Verbs: []verb.Verb{"promote", "hold", "resume", "reject"}, Who: []string{"team:acme/developers"}},
			{Verbs: []verb.Verb{"rollback", "freeze", "thaw"}, Who: []string{"team:acme/sre"}, Scope: serverconfig.Scope{Environments: []string{"prod-*"}}},
		},
		Limits: []serverconfig.Limit{
			{Land: []setting.Land{setting.LandPR, setting.LandAutomerge}, Approvals: 1, Scope: serverconfig.Scope{Environments: []string{"prod-*"}}},
		},
		RateLimits: []serverconfig.RateLimit{{Host: "quay.io", PerSecond: 10, Burst: 20, Concurrent: 4}},
		Timeout:    10 * time.Minute, Incremental: true,
		Sizes:    serverconfig.Sizes{File: 4 << 20, Pack: 512 << 20, Object: 32 << 20, Mirror: 2 << 30, Mirrors: 64 << 30},
		Networks: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")},
	}
	options := cmp.Options{
		cmpopts.IgnoreTypes(config.Position{}, []image.Pattern{}),
		cmp.Comparer(func(a, b serverconfig.Reference) bool { return a.String() == b.String() }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	}
	if diff := cmp.Diff(want, got, options); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if patterns := got.Registries[0].Repositories; len(patterns) != 1 || patterns[0].String() != "quay.io/acme/**" {
		t.Errorf("repositories of quay.io: %v", patterns)
	}
}

func TestLoad_variables(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"PROMOTER_LISTEN": ":9", "PROMOTER_METRICS_LISTEN": ":10", "PROMOTER_URL": "https://p.example.com/", "PROMOTER_DATA": "/d",
		"PROMOTER_POLL": "1m", "PROMOTER_DATABASE_PATH": "/d/p.db",
	}
	got, problems := serverconfig.Load("s.yaml", []byte("version: 1\nlisten: ':1'\nmetrics: {listen: ':9'}\npoll: 1h\ndatabase: {url: 'env:DB'}\n"),
		func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if got == nil {
		t.Fatal(problems)
	}
	want := []string{":9", ":10", "https://p.example.com", "/d", "1m0s", "/d/p.db", ""}
	have := []string{got.Listen, got.Metrics.Listen, got.URL, got.Data, got.Poll.String(), got.Database.Path, got.Database.URL.String()}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("variables win over the file (-want +got):\n%s", diff)
	}
}

func TestLoad_committer(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]serverconfig.Committer{
		"promoter <promoter@example.com>":              {Name: "promoter", Email: "promoter@example.com"},
		"Acme's Bot <7+acme[bot]@users.noreply.x.com>": {Name: "Acme's Bot", Email: "7+acme[bot]@users.noreply.x.com"},
		"promoter":                            {},
		"<promoter@example.com>":              {},
		" <promoter@example.com>":             {},
		"promoter <promoter>":                 {},
		"promoter <a@b>\ncommitter eve <e@x>": {},
		"promoter <a b@c>":                    {},
		strings.Repeat("x", 300) + " <a@b.c>": {},
	} {
		got, problems := serverconfig.Load("s.yaml", nil, func(name string) (string, bool) { return value, name == "PROMOTER_COMMITTER" })
		if want.Name == "" {
			if got != nil || !strings.Contains(problems.String(), "write NAME <EMAIL>") {
				t.Errorf("%q: %v", value, problems)
			}
			continue
		}
		if got == nil || got.Committer != want {
			t.Errorf("%q: %+v, %v", value, got, problems)
		}
	}
}

func TestLoad_badVariable(t *testing.T) {
	t.Parallel()
	server, problems := serverconfig.Load("s.yaml", nil, func(name string) (string, bool) { return "often", name == "PROMOTER_POLL" })
	const want = `PROMOTER_POLL: "often" is not a duration like 30s, 15m, 72h, 3d or 1w2d (write a number and a unit: 90s, 15m, 24h)`
	if server != nil || problems.String() != want {
		t.Errorf("problems = %s; want %s", problems, want)
	}
}

func TestLoad_defaults(t *testing.T) {
	t.Parallel()
	got, problems := serverconfig.Load("", nil, noEnv)
	if got == nil {
		t.Fatal(problems)
	}
	want := &serverconfig.Config{
		Listen: serverconfig.DefaultListen, Data: serverconfig.DefaultData, Poll: serverconfig.DefaultPoll,
		Timeout: serverconfig.DefaultTimeout, Incremental: true,
		Sizes:     serverconfig.Sizes{File: 1 << 20, Pack: 512 << 20, Object: 32 << 20, Mirror: 2 << 30, Mirrors: 5 << 30},
		Retention: serverconfig.Retention{Deliveries: serverconfig.DefaultDeliveries, DeliveriesSize: serverconfig.DefaultDeliveriesSize},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b serverconfig.Reference) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("without a file (-want +got):\n%s", diff)
	}
}

// On plain Git a name is the path of a URL, in which .git may be needed; on a
// forge it is none of the name.
func TestLoad_suffixOfNames(t *testing.T) {
	t.Parallel()
	const text = `version: 1
forges:
  github: {kind: github, token: "env:TOKEN"}
  git: {kind: git, url: "https://git.example.com"}
repositories:
  - {forge: github, name: acme/gitops.git}
  - {forge: git, name: /acme/gitops.git}
`
	got, problems := serverconfig.Load("server.yaml", []byte(text), noEnv)
	if got == nil {
		t.Fatal(problems)
	}
	want := []serverconfig.Repository{{Forge: "github", Name: "acme/gitops"}, {Forge: "git", Name: "acme/gitops.git"}}
	if diff := cmp.Diff(want, got.Repositories, cmpopts.IgnoreFields(serverconfig.Repository{}, "Position")); diff != "" {
		t.Errorf("repositories (-want +got):\n%s", diff)
	}
	if _, problems = serverconfig.Load("server.yaml", []byte(text+"  - {forge: git, name: acme/gitops}\n"), noEnv); len(problems.Errors()) == 0 {
		t.Error("one repository by two names is accepted")
	}
}
