package app_test

import (
	"strings"
	"testing"
	"time"
)

// TestRun_badReleaseRolledBack_github plays a release that fails in dev: it is rolled back, once,
// and no child gets it. There is no database: what is known is on the forge.
func TestRun_badReleaseRolledBack_github(t *testing.T) {
	t.Parallel()
	monitored := strings.NewReplacer(
		`land: push}`, `land: push, health: {check: deploy, timeout: 15m, onFailure: rollback}}`,
		`after: [dev]}`, `after: {dev: {healthy: true}}, land: push}`).Replace(chain)
	onceOnGitHub(t, monitored, func(s *story) {
		s.because(s.releaseAndRun("web", "1.1.0"), "staging", "dev healthy: no source has reported: set the commit status deploy")
		bad := s.repo.Git.Run("rev-parse", "main")
		s.repo.Settings.SetStatus("mallory", bad, "promoter/health/dev/shop", "success")
		s.repo.Settings.SetStatus("ci", bad, "deploy", "failure")
		s.because(s.run(), "staging", "dev healthy: Degraded since")
		s.wait(15*time.Minute + time.Second)
		s.run()
		s.holds("dev", "1.0.0 1.0.0")
		s.holds("staging", "1.0.0 1.0.0")
		if message := s.repo.Git.Run("log", "-1", "--format=%B", "main"); !strings.Contains(message, "web 1.1.0 -> 1.0.0") {
			t.Errorf("the commit is\n%s", message)
		}
		s.repo.Settings.SetStatus("ci", s.repo.Git.Run("rev-parse", "main"), "deploy", "failure")
		s.run()
		s.wait(time.Hour)
		s.run()
		s.holds("dev", "1.0.0 1.0.0")

		s.releaseAndRun("web", "1.2.0")
		s.holds("dev", "1.2.0 1.0.0")
		s.repo.Settings.SetStatus("ci", s.repo.Git.Run("rev-parse", "main"), "deploy", "success")
		s.run()
		s.holds("staging", "1.2.0 1.0.0")
	})
}

// A deployment of the forge is a source too: the newest one to the environment counts, if its
// commit has the versions.
func TestRun_healthOfDeployments_github(t *testing.T) {
	t.Parallel()
	monitored := strings.NewReplacer(
		`land: push}`, `land: push, health: {deployment: "{environment}-{application}"}}`,
		`after: [dev]}`, `after: {dev: {healthy: true}}, land: push}`).Replace(chain)
	onceOnGitHub(t, monitored, func(s *story) {
		before := s.repo.Git.Run("rev-parse", "main")
		s.releaseAndRun("web", "1.1.0")
		s.repo.Settings.Deploy("ci", before, "dev-shop", "success")
		s.because(s.run(), "staging", "dev healthy: dev-shop last reported Healthy about "+before[:7])
		landed := s.repo.Git.Run("rev-parse", "main")
		s.repo.Settings.Deploy("ci", landed, "dev-shop", "in_progress")
		s.because(s.run(), "staging", "dev healthy: Progressing since")
		s.repo.Settings.Deploy("ci", landed, "dev-shop", "success")
		s.repo.Settings.Deploy("ci", landed, "other", "failure")
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
	})
}

// On plain Git, nothing but the service knows what was reported. A run waits, with this reason.
func TestRun_healthOnPlainGit(t *testing.T) {
	t.Parallel()
	monitored := strings.NewReplacer(
		`land: push}`, `land: push, health: {api: true, from: smoke}}`,
		`after: [dev], land: push`, `after: {dev: {healthy: true}}, land: push`).Replace(pushed())
	onPlain(t, monitored, func(s *story) {
		s.because(s.releaseAndRun("web", "1.1.0"), "staging", "dev healthy: only the service knows what arrived at smoke: plain Git has no commit statuses")
		s.holds("dev", "1.1.0 1.0.0")
		s.holds("staging", "1.0.0 1.0.0")
	})
}
