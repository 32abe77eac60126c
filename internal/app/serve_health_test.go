package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/api"
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
	w.reports("argo", "Progressing", landed)
	w.reports("argo", "Healthy", landed)
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
