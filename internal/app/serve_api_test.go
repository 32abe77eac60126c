package app_test

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/fault"
	"promoter/internal/serverfile"
	"promoter/internal/service/adminapi"
	"promoter/internal/telemetry"
)

const serveToken = "canary-token-of-the-api-0123456789abcdef"

// client is the API client of a command, with another server file that contains the same
// token.
func (w *served) client(token string) *adminapi.Client {
	w.t.Helper()
	file := w.write("asking.yaml", `{version: 1, api: {token: "env:API"}}`)
	client, err := adminapi.NewClient(serverfile.Options{Config: file, Env: environ("API", token), Now: time.Now}, adminapi.ClientOptions{URL: w.url})
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// The status shows the idle repository and the delivery, and the delivery is replayed:
// the image was pushed meanwhile, and is found.
func TestServe_statusAndReplay(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	w.notify("web:1.1.0")
	w.until("reconciled")
	client := w.client(serveToken)
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Repositories) != 1 || !strings.HasSuffix(status.Repositories[0].Name, "/acme/gitops") || status.Repositories[0].ReconciledAt.IsZero() ||
		status.Repositories[0].Failure != "" || len(status.Deliveries) != 1 || status.Deliveries[0].Receiver != "images" {
		t.Fatalf("%+v", status)
	}
	id := status.Deliveries[0].ID
	s.release("web", "1.1.0")
	dry, err := client.Replay(t.Context(), api.Replay{ID: id, DryRun: true})
	if err != nil || len(dry.Repositories) != 1 || len(dry.Events) != 1 || dry.Events[0] != s.expand("image $R/acme/web:1.1.0") {
		t.Fatalf("%+v, %v", dry, err)
	}
	if status, err := client.Status(t.Context()); err != nil || status.Deliveries[0].Times != 1 {
		t.Errorf("a dry run counts: %+v, %v", status.Deliveries, err)
	}
	if _, err := client.Replay(t.Context(), api.Replay{ID: id, Receiver: "images"}); err != nil {
		t.Fatal(err)
	}
	w.until("opened")
	s.pulls(stagingHead + " open")
	if status, err := client.Status(t.Context()); err != nil || len(status.Deliveries) != 1 || status.Deliveries[0].Times != 2 {
		t.Errorf("%+v, %v", status.Deliveries, err)
	}
	for name, what := range map[string]api.Replay{"of none": {ID: "unheard-of"}, "of another": {ID: id, Receiver: "forge"}} {
		if _, err := client.Replay(t.Context(), what); err == nil || !strings.Contains(err.Error(), "30d") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.client(strings.Repeat("x", 40)).Status(t.Context()); fault.KindOf(err) != fault.Unauthorized || strings.Contains(err.Error(), "canary") {
		t.Errorf("with another token: %v", err)
	}
	w.stop()
	if _, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "no service answers at") {
		t.Errorf("after it stopped: %v", err)
	}
}

// A repository that cannot be opened is in the status, with its error and the next attempt,
// and in the metrics.
func TestServe_showsWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	file := s.serverFile("served.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()), fmt.Sprintf(`data: %q
poll: 1h
repositories: [{forge: forge, name: acme/gitops}, {forge: forge, name: acme/missing}]
api: {token: "env:API"}
`, filepath.Join(s.dir, "data")))
	w := serveFile(t, s, -1, file)
	status, err := w.client(serveToken).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Repositories) != 2 {
		t.Fatalf("%+v", status.Repositories)
	}
	missing := status.Repositories[1]
	if !strings.HasSuffix(missing.Name, "/acme/missing") || missing.State != api.StateFailing || missing.Attempts != 1 || missing.NextRun.IsZero() ||
		!strings.Contains(missing.LastError, "it does not exist, or the credential of the forge forge may not see it") {
		t.Errorf("%+v", missing)
	}
	if metrics := w.metrics(); !strings.Contains(metrics, "\npromoter_repositories_unopened 1\n") {
		t.Errorf("the metrics are\n%s", metrics)
	}
}

// A token never leaves the machine without TLS, and a service without a token gets no
// request.
func TestNewClient_refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	with, without := writeFile(t, dir+"/with.yaml", `{version: 1, api: {token: "env:API"}}`), writeFile(t, dir+"/without.yaml", `{version: 1}`)
	for _, test := range []struct{ file, token, url, want string }{
		{without, serveToken, "", "has no api.token"},
		{with, "short", "", "shorter than 32"},
		{with, serveToken, "http://promoter.example.com", "https"},
		{with, serveToken, "http://127.0.0.1.example.com", "https"},
		{with, serveToken, "http://user:canary@127.0.0.1", "not the address"},
		{with, serveToken, "promoter", "not the address"},
	} {
		_, err := adminapi.NewClient(serverfile.Options{Config: test.file, Env: environ("API", test.token), Now: time.Now}, adminapi.ClientOptions{URL: test.url})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(fmt.Sprint(err), "canary") {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// Profiles and metrics have an address of their own, which must be free.
func TestServe_metricsNeedAnAddress(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // it accepted nothing
	for _, test := range []struct {
		key      string
		profiles telemetry.Profiles
		want     string
	}{
		{"", telemetry.LocalProfiles, "--pprof: set metrics.listen"},
		{"metrics: {listen: " + taken.Addr().String() + "}\n", telemetry.NoProfiles, "metrics.listen: listen tcp " + taken.Addr().String()},
	} {
		dir := t.TempDir()
		file := writeFile(t, filepath.Join(dir, "server.yaml"), fmt.Sprintf(`version: 1
data: %q
listen: 127.0.0.1:0
forges: {f: {kind: git, url: "https://git.example.com"}}
repositories: [{forge: f, name: acme/gitops}]
%s`, dir, test.key))
		s := openService(t, file, environ(), time.Now)
		err := app.Serve(t.Context(), s, app.ServeOptions{Profiles: test.profiles, Log: slog.New(slog.DiscardHandler)})
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
