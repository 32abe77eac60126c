package app_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
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

// The same on the other forges: what is known of health is in their commit statuses.
func TestRun_badReleaseRolledBack_otherForges(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	monitored := strings.NewReplacer(
		`land: push}`, `land: push, health: {flux: "kustomization/apps/{application}", timeout: 15m, onFailure: rollback}}`,
		`after: [dev]}`, `after: {dev: {healthy: true}}, land: push}`).Replace(chain)
	t.Run("gitlab", func(t *testing.T) {
		t.Parallel()
		s, _, project := newGitLabStory(t, "")
		project.Git.Commit("ada", "main", "Monitor", s.tree(monitored, "web:1.0.0", "worker:1.0.0"))
		s.playBadRelease(project.Git.Run, func(who, context, state string) {
			project.SetStatus(who, strings.TrimSpace(project.Git.Run("rev-parse", "main")), context, strings.Replace(state, "failure", "failed", 1))
		})
	})
	t.Run("gitea", func(t *testing.T) {
		t.Parallel()
		s := newGiteaStory(t, monitored)
		s.playBadRelease(s.repo.Git.Run, func(who, context, state string) {
			s.repo.Settings.SetStatus(who, strings.TrimSpace(s.repo.Git.Run("rev-parse", "main")), context, state)
		})
	})
}

// playBadRelease plays a release that fails in dev, as Flux reports it, and one that is healthy.
func (s *story) playBadRelease(git func(...string) string, set func(who, context, state string)) {
	s.t.Helper()
	const kustomization = "kustomization/shop/0d9ea5e2"
	has := func(environment, version string) {
		s.t.Helper()
		if text := git("show", "main:"+environment+"/shop.yaml"); !strings.Contains(text, s.line(version)) {
			s.t.Errorf("%s holds\n%s, want %s", environment, text, version)
		}
	}
	s.because(s.releaseAndRun("web", "1.1.0"), "staging", "dev healthy: no source has reported: let Flux set the commit status of kustomization/apps/shop")
	set("ada", "promoter/health/dev/shop", "success")
	set("ada", kustomization, "failure")
	s.because(s.run(), "staging", "dev healthy: Degraded since")
	s.wait(15*time.Minute + time.Second)
	s.run()
	has("dev", "web:1.0.0")
	has("staging", "web:1.0.0")
	message := git("log", "-1", "--format=%B", "main")
	if !strings.Contains(message, "Promoter-Reason: Degraded for 15m") || strings.Contains(message, "Promoter-Requested-By") {
		s.t.Errorf("the commit is\n%s", message)
	}
	s.wait(time.Hour)
	s.run()
	has("dev", "web:1.0.0")
	s.releaseAndRun("web", "1.2.0")
	has("dev", "web:1.2.0")
	set("ada", kustomization, "success")
	s.run()
	has("staging", "web:1.2.0")
}

// Three releases in ten minutes under a long soak of what is healthy: drain lets the first one
// through, and then the last one. One that fails does not keep newer ones out.
func TestRun_drainUntilHealthy_github(t *testing.T) {
	t.Parallel()
	monitored := strings.NewReplacer(
		`land: push}`, `land: push, newer: drain, health: {check: deploy, timeout: 15m}}`,
		`after: [dev]}`, `after: {dev: {soak: 1h}}, land: push}`).Replace(chain)
	onceOnGitHub(t, monitored, func(s *story) {
		reports := func(state string) {
			s.repo.Settings.SetStatus("ci", strings.TrimSpace(s.repo.Git.Run("rev-parse", "main")), "deploy", state)
		}
		s.releaseAndRun("web", "1.1.0")
		s.wait(5 * time.Minute)
		s.because(s.releaseAndRun("web", "1.2.0"), "dev", "web 1.1.0, worker 1.0.0 has not reached staging yet: dev soak: no source has reported")
		s.wait(5 * time.Minute)
		s.releaseAndRun("web", "1.3.0")
		reports("success")
		s.because(s.run(), "dev", "has not reached staging yet: dev soak: healthy since")
		s.holds("dev", "1.1.0 1.0.0")
		s.wait(59 * time.Minute)
		s.run()
		s.holds("staging", "1.0.0 1.0.0")
		s.wait(2 * time.Minute)
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
		s.holds("dev", "1.3.0 1.0.0")

		reports("failure")
		s.because(s.releaseAndRun("web", "1.4.0"), "dev", "has not reached staging yet: dev soak: Degraded since")
		s.wait(15*time.Minute + time.Second)
		s.run()
		s.holds("dev", "1.4.0 1.0.0")
		s.holds("staging", "1.1.0 1.0.0")
	})
}
