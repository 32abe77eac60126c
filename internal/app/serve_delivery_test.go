package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	deliverymetrics "promoter/internal/delivery"
	"promoter/internal/view"
)

// measured has an environment that is pushed, and one with pull requests and health.
const measured = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push, labels: {tier: free}}
  staging: {paths: ["staging/{application}.yaml"], after: [dev], health: {argocd: ["{application}-staging"], from: argo}}
`

// Metrics follow a version from its source commit to the healthy landing, and its revert. A search
// for the pull request of the source finds it.
func TestServe_deliveryMetrics(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", measured)
	source := s.forge.NewRepository("acme/web", map[string]string{"README": "web"})
	source.Settings.SetPrivate(false)
	labels := func(revision string) map[string]string {
		return map[string]string{"org.opencontainers.image.revision": revision, "org.opencontainers.image.source": s.forge.URL() + "/acme/web.git"}
	}
	commit := func(message string) string {
		return source.Git.Commit("ann", "main", message, map[string]string{"README": message})
	}
	from := commit("Begin")
	s.wait(time.Hour)
	s.labeled("web", "1.0.1", s.clock.Now(), labels(from))
	s.repo.Git.Commit("ada", "main", "Begin with 1.0.1", s.tree(measured, "web:1.0.1", "worker:1.0.0"))
	commit("The oldest change (#12)")
	s.wait(5 * time.Hour)
	to := commit("The newest change")
	s.wait(time.Hour)
	created := s.clock.Now()
	s.wait(time.Hour)

	w := serveAs(t, s, serving{quiet: -1, poll: "24h", receivers: argoReceivers})
	s.labeled("web", "1.1.0", created, labels(to))
	w.notify("web:1.1.0")
	w.reconciles()
	s.wait(3 * time.Hour)
	s.repo.Pulls.Merge("ada", 1, "merge")
	w.closed("merge-1")
	metrics := func(environment string) deliverymetrics.Metrics {
		t.Helper()
		query := deliverymetrics.Query{Since: s.clock.Now().AddDate(0, 0, -30)}
		query.Environment = environment
		report, err := w.client(serveToken).Metrics(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		return report.Total
	}
	hours := func(d deliverymetrics.Duration) int { return int(time.Duration(d).Hours()) }
	if m := metrics("staging"); m.Deployments != 1 || m.LeadTime.Count != 0 || m.LeadTime.Unknown != 1 || m.OpenPullRequests.Count != 0 || m.EventToPullRequest.Count != 1 {
		t.Errorf("landed in staging: %+v", m)
	}
	name := s.forge.Host() + "/acme/web#12"
	for _, text := range []string{"#12", "acme/web#12", s.forge.URL() + "/acme/web/pull/12"} {
		found, err := w.client(serveToken).Where(t.Context(), text)
		if err != nil || len(found.Versions) != 1 || found.Versions[0].Version != "1.1.0" || !slices.Equal(found.Versions[0].SourcePullRequests, []string{name}) ||
			found.Versions[0].Places[0].State != view.IsThere || found.Versions[0].Places[1].State != view.IsThere {
			t.Errorf("where is %s? %+v, %v", text, found, err)
		}
	}
	w.reports("argo", "Healthy", strings.TrimSpace(s.repo.Git.Run("rev-parse", "main")))
	if m := metrics("staging"); m.LeadTime.Count != 1 || hours(m.LeadTime.Median) != 10 || m.Failed != 0 {
		t.Errorf("healthy in staging: %+v", m)
	}
	if m := metrics("dev"); m.Deployments != 1 || m.LeadTime.Count != 1 || hours(m.LeadTime.Median) != 1 || m.EventToPullRequest.Count != 1 {
		t.Errorf("pushed to dev: %+v", m) // since its image was created
	}
	s.wait(time.Hour)
	s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.1.0"), s.line("web:1.0.1"))
	w.notify("web:1.1.0")
	w.reconciles()
	if m := metrics("staging"); m.Deployments != 1 || m.Failed != 1 || m.TimeToRestore.Count != 0 || m.TimeToRestore.Unknown != 1 {
		t.Errorf("reverted in staging: %+v", m)
	}
	w.reports("argo", "Healthy", strings.TrimSpace(s.repo.Git.Run("rev-parse", "main")))
	if m := metrics("staging"); m.Deployments != 1 || m.TimeToRestore.Count != 1 || hours(m.TimeToRestore.Median) != 1 {
		t.Errorf("healthy as before: %+v\n%s", m, w.call("GET", "/api/v1/history?environment=staging", serveToken, "").text)
	}
	w.stop()
}
