package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/api"
	"promoter/internal/drift"
)

// monitored promotes to prod what Argo CD reports as healthy in staging.
const monitored = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  staging: {paths: ["staging/{application}.yaml"], land: push, health: {argocd: ["{application}-staging"], from: argo}}
  prod: {paths: ["prod/{application}.yaml"], land: push, after: {staging: {healthy: true, soak: 1h}}}
`

const argoReceivers = `  argo: {kind: argocd, secret: "env:HOOK", header: X-Argo}
  another: {kind: argocd, secret: "env:HOOK", header: X-Argo}
`

// reports posts what Argo CD reports about staging, and waits for the reconciliation.
func (w *served) reports(receiver, status, revision string) {
	w.t.Helper()
	w.send(receiver, fmt.Sprintf(`{"metadata": {"name": "shop-staging", "namespace": "argocd"}, "spec": {"source": {"repoURL": "%s/acme/gitops.git"}},
"status": {"health": {"status": %q}, "sync": {"status": "Synced", "revision": %q}}}`, w.forge.URL(), status, revision), "X-Argo", serveSecret)
	w.reconciles()
}

// A report about the landed commit, at the receiver that the config names, starts the soak.
// Without the database, the statuses of the forge have it.
func TestServe_promotesWhatArgoCDReports(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", monitored)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: argoReceivers})
	before := strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))
	w.publish("web", "1.1.0")
	s.holds("staging", "1.1.0 1.0.0")
	landed := strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))
	stays := func(receiver, status, revision string) {
		t.Helper()
		w.reports(receiver, status, revision)
		s.wait(2 * time.Hour)
		w.notify("web:1.1.0")
		w.reconciles()
		s.holds("prod", "1.0.0 1.0.0")
	}
	stays("another", "Healthy", landed)
	stays("argo", "Healthy", before)
	deployed := func(want string) {
		t.Helper()
		if all := read[api.Bindings](w, "/api/v1/bindings?environment=staging").Bindings; len(all) != 1 || all[0].Summary != want || all[0].Health == nil {
			t.Errorf("the bindings are %+v, want %q", all, want)
		}
	}
	deployed("1 of 2 components deployed, 2 have the wanted version")
	w.reports("argo", "Progressing", landed)
	w.reports("argo", "Healthy", landed)
	deployed("2 of 2 components deployed, 2 have the wanted version")
	s.holds("prod", "1.0.0 1.0.0")
	became := func() string {
		t.Helper()
		return strings.Join(w.events(api.HistoryQuery{Environment: "staging"}), ", ")
	}
	if got := became(); got != "healthy staging 1.1.0, pushed staging 1.1.0" {
		t.Errorf("history: %s", got)
	}
	w.stop()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(filepath.Join(s.dir, "data", "promoter.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	s.wait(2 * time.Hour)
	w = serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: argoReceivers})
	s.holds("prod", "1.1.0 1.0.0")
	if got := became(); got != "healthy staging 1.1.0, landed staging 1.1.0" {
		t.Errorf("history from the forge: %s", got)
	}
	w.stop()
}

// smokeTested promotes to prod what a pipeline reports as healthy in staging.
var smokeTested = strings.Replace(monitored, `{argocd: ["{application}-staging"], from: argo}`, "{api: true, from: smoke}", 1)

// A pipeline sees its mistakes, and not which repositories others have. The status names what
// receivers are missing.
func TestServe_reportsOfPipelines(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", smokeTested)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(broken.Close)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: fmt.Sprintf(`  smoke: {kind: evidence, secret: "env:HOOK", repositories: ["%s/acme/*"]}
  elsewhere: {kind: evidence, secret: "env:TOKEN", repositories: ["%[1]s/other/*"]}
  argo: {kind: argocd, poll: {url: "%s", token: "env:API", insecure: true}}
`, s.forge.Host(), broken.URL)})
	w.publish("web", "1.1.0")
	s.holds("staging", "1.1.0 1.0.0")
	landed := strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))
	posts := func(secret, repository, environment string) posted {
		t.Helper()
		return w.call(http.MethodPost, "/api/v1/evidence", secret, fmt.Sprintf(`{"repository": "%s/%s", "environment": %q, "status": "Healthy", "revision": %q}`,
			s.forge.Host(), repository, environment, landed))
	}
	const noRepository = "for which the receiver "
	for _, c := range []struct {
		secret, repository, environment string
		status                          int
		want                            string
	}{
		{serveSecret, "acme/typo", "staging", http.StatusNotFound, noRepository},
		{s.token, "acme/gitops", "staging", http.StatusNotFound, noRepository},
		{s.token, "acme/typo", "staging", http.StatusNotFound, noRepository},
		{serveSecret, "acme/gitops", "stage", http.StatusBadRequest, "has no environment stage with health: {api: true, from: smoke}"},
		{serveSecret, "acme/gitops", "prod", http.StatusBadRequest, "has no environment prod with health"},
	} {
		if response := posts(c.secret, c.repository, c.environment); response.status != c.status || !strings.Contains(response.text, c.want) {
			t.Errorf("%s in %s: %d %s", c.environment, c.repository, response.status, response.text)
		}
	}
	client := w.client(serveToken)
	receivers := func() string {
		t.Helper()
		status, err := client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, one := range status.Receivers {
			all = append(all, strings.Join([]string{one.Receiver, one.Kind, fmt.Sprint(len(one.Repositories), !one.ReportedAt.IsZero()), one.Failing, one.SetUp}, "|"))
		}
		return strings.Join(all, "\n")
	}
	const refused = "argo|argocd|0 false|list the Applications of Argo CD: Argo CD refuses the token: HTTP 403|"
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); !strings.Contains(receivers(), refused); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no failed poll of Argo CD:\n%s", receivers())
		}
	}
	if got := receivers(); !strings.Contains(got, "smoke|evidence|1 false||post reports to ") || !strings.Contains(got, "elsewhere|evidence|0 false||no config names it") {
		t.Errorf("receivers:\n%s", got)
	}
	if response := posts(serveSecret, "acme/gitops", "staging"); response.status != http.StatusAccepted {
		t.Errorf("%d %s", response.status, response.text)
	}
	w.reconciles()
	if got := receivers(); !strings.Contains(got, "smoke|evidence|1 true||\n") {
		t.Errorf("receivers:\n%s", got)
	}
	s.wait(2 * time.Hour)
	w.notify("web:1.1.0")
	w.reconciles()
	s.holds("prod", "1.1.0 1.0.0")
	w.stop()
}

// A token of the API with the role evidence is a receiver with its name, within its scope.
func TestServe_reportsOfTokens(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", strings.Replace(smokeTested, "from: smoke", "from: ci", 1))
	reads := writeFile(t, filepath.Join(s.dir, "reads"), readToken)
	w := serveFile(t, s, -1, s.serverFile("reporters.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
repositories: [{forge: forge, name: acme/gitops}]
receivers: {images: {kind: generic, secret: "env:HOOK", header: X-Signature}}
api:
  tokens:
    ci: {token: "env:API", roles: [evidence], environments: [staging]}
    dashboard: {token: "file:%s"}
`, filepath.Join(s.dir, "data"), reads)))
	w.publish("web", "1.1.0")
	s.holds("staging", "1.1.0 1.0.0")
	landed := strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))
	for _, c := range []struct {
		token, environment string
		status             int
		want               string
	}{
		{readToken, "staging", http.StatusUnauthorized, ""},
		{serveToken, "prod", http.StatusNotFound, "may not report the health of"},
		{serveToken, "staging", http.StatusAccepted, ""},
	} {
		response := w.call(http.MethodPost, "/api/v1/evidence", c.token, fmt.Sprintf(`{"repository": "%s/acme/gitops", "environment": %q, "status": "Healthy", "revision": %q}`,
			s.forge.Host(), c.environment, landed))
		if response.status != c.status || !strings.Contains(response.text, c.want) {
			t.Errorf("%s with %s: %d %s", c.environment, c.token, response.status, response.text)
		}
	}
	w.reconciles()
	s.wait(2 * time.Hour)
	w.notify("web:1.1.0")
	w.reconciles()
	s.holds("prod", "1.1.0 1.0.0")
	w.stop()
}

// What runs instead of what the files have is drift after the timeout of health, and the
// status shows it also after a restart.
func TestServe_showsWhatRunsInstead(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", monitored)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: argoReceivers})
	before := strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))
	w.publish("web", "1.1.0")
	w.reports("argo", "Healthy", before)
	shows := func(want string) {
		t.Helper()
		got := ""
		for _, repository := range w.status().Repositories {
			for _, one := range repository.Drift {
				if one.Kind == drift.Shared {
					continue
				}
				got += string(one.Kind) + " " + one.Environment + " " + one.Message + "\n"
			}
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("the drift is %q, want %q", got, want)
		}
	}
	shows("")
	s.wait(20 * time.Minute)
	w.reports("argo", "Healthy", before)
	const line = "actual staging desired web 1.1.0, worker 1.0.0, actual web 1.0.0: argocd/shop-staging is Healthy, Synced, since "
	shows(line)
	w.stop()
	w = serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: argoReceivers})
	shows(line)
	w.reports("argo", "Healthy", strings.TrimSpace(s.repo.Git.Run("rev-parse", "main")))
	shows("")
	w.stop()
}
