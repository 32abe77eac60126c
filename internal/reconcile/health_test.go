package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/state"
)

// monitored is a config whose environments are pushed to when their parent is healthy.
const monitored = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev:
    paths: ["dev/{application}.txt"]
    land: push
    health: {argocd: ["{application}-dev", "{application}-dev-*"], from: argo, timeout: 15m}
  staging:
    paths: ["staging/{application}.txt"]
    after: {dev: {healthy: true}}
    land: push
    health: {argocd: ["{application}-staging"], from: argo}
  prod: {paths: ["prod/{application}.txt"], after: {staging: {healthy: true}}, land: automerge}
`

// monitoredWorld is a world with evidence, in which the images of before are everywhere.
type monitoredWorld struct {
	*world
	evidence *reconciletest.Evidence
}

func newMonitoredWorld(t *testing.T, config string) *monitoredWorld {
	t.Helper()
	return &monitoredWorld{newWorld(t, config), reconciletest.NewEvidence()}
}

// reconcile reconciles; it must not fail. A second time it must write nothing.
func (w *monitoredWorld) reconcile() outcome.Report {
	w.t.Helper()
	run := func() outcome.Report {
		r := w.Reconciler()
		r.Clients.Evidence = w.evidence
		report, err := r.Reconcile(w.t.Context())
		if err != nil || report.Failed() {
			w.t.Fatalf("the run failed: %v, %+v, %s", err, report.Errors, report.Unusable)
		}
		return report
	}
	report := run()
	pushes, statuses := w.Git.Pushes, w.Forge.Calls["status"]
	if again := run(); w.Git.Pushes != pushes || w.Forge.Calls["status"] != statuses {
		w.t.Errorf("the second run wrote: %+v", again.Effects)
	}
	return report
}

// reports reports the health of an object at a commit; empty: the head of main.
func (w *monitoredWorld) reports(object string, status health.Status, commit, message string) {
	if commit == "" {
		commit = w.Git.Branch("main")
	}
	w.evidence.Report(health.Report{
		Source: health.ArgoCD, Receiver: "argo", Subject: object, Status: status, Sync: health.Synced, Message: message,
		Revisions: []string{commit}, At: w.Clock.Now(),
	})
}

// waits checks that an environment waits for a reason.
func (w *monitoredWorld) waits(report outcome.Report, environment, reason string) {
	w.t.Helper()
	for _, d := range report.Decisions {
		if d.Environment == environment && d.Application == "shop" {
			if got := string(d.State) + ": " + d.Reason.Message; !strings.Contains(got, "waiting: condition "+reason) && !strings.Contains(got, "waiting: "+reason) {
				w.t.Errorf("%s is %q, want %q", environment, got, reason)
			}
			return
		}
	}
	w.t.Errorf("no decision about %s", environment)
}

// noteOf returns the note of a rule about shop in an environment.
func noteOf(report outcome.Report, environment string, rule promotion.Rule) string {
	for _, d := range report.Decisions {
		for _, note := range d.Notes {
			if d.Environment == environment && d.Application == "shop" && note.Rule == rule {
				return note.Message
			}
		}
	}
	return ""
}

func TestHealth_childWaitsUntilTheLandedCommitIsHealthy(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	before := w.Git.Branch("main")
	w.push(web, "1.1.0")
	w.waits(w.reconcile(), "staging", "dev healthy: no source has reported: let Argo CD notify the receiver argo")

	w.reports("shop-dev", health.Healthy, before, "")
	w.waits(w.reconcile(), "staging", "dev healthy: shop-dev last reported Healthy about "+before[:7])
	w.evidence.Report(health.Report{Source: health.ArgoCD, Receiver: "other", Subject: "shop-dev", Status: health.Healthy, Revisions: []string{w.Git.Branch("main")}, At: w.Clock.Now()})
	w.reports("shop-dev", health.Progressing, "", "")
	w.waits(w.reconcile(), "staging", "dev healthy: Progressing, Synced since 2026-11-18T11:00:00Z")
	w.holds("staging", "1.0.0 1.0.0")

	w.Clock.Add(time.Minute)
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
}

func TestHealth_allObjectsMustReportTheVersions(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	before := w.Git.Branch("main")
	w.push(web, "1.1.0")
	w.reconcile()
	w.reports("shop-dev", health.Healthy, "", "")
	w.reports("shop-dev-eu", health.Healthy, before, "")
	w.waits(w.reconcile(), "staging", "dev healthy: Unknown, Synced since 2026-11-18T11:00:00Z: shop-dev-eu last reported Healthy")
	w.reports("shop-dev-eu", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
}

// A later commit of something else still has the versions; one with other versions belongs to
// a later landing.
func TestHealth_countsOnDescendantsWithTheVersions(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(web, "1.1.0")
	w.reconcile()
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "More replicas", func(all map[string]string) { all["dev/replicas.yaml"] = "3\n" })
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")

	w.push(web, "1.2.0")
	w.reconcile()
	w.holds("dev", "1.2.0 1.0.0")
	w.waits(w.reconcile(), "staging", "dev healthy: shop-dev last reported Healthy")
}

// The parent moves on before the child could follow: the older snapshot stays eligible.
func TestHealth_staysEligibleAfterTheParentMovedOn(t *testing.T) {
	t.Parallel()
	config := strings.Replace(monitored, "after: {dev: {healthy: true}}", "after: {dev: {healthy: true, checks: [e2e]}}", 1)
	w := newMonitoredWorld(t, config)
	w.push(web, "1.1.0")
	w.reconcile()
	landed := w.Git.Branch("main")
	w.reports("shop-dev", health.Healthy, "", "")
	w.waits(w.reconcile(), "staging", "dev check e2e")
	w.Clock.Add(time.Minute)
	w.push(web, "1.2.0")
	w.reconcile()
	w.reports("shop-dev", health.Degraded, "", "boom")
	w.Forge.Check(landed, "e2e", "passed")
	w.evidence.Forget() // the statuses of the forge have it too
	w.reconcile()
	w.holds("dev", "1.2.0 1.0.0")
	w.holds("staging", "1.1.0 1.0.0")
}

func TestHealth_isMirroredAndReadBackWithoutEvidence(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(web, "1.1.0")
	w.reconcile()
	landed := w.Git.Branch("main")
	if w.push(web, "1.1.0"); w.Forge.Calls["status"] != 0 {
		t.Errorf("%d statuses", w.Forge.Calls["status"])
	}
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	w.reconcile()
	mirrored := w.Forge.StatusOf(landed, "promoter/health/dev/shop")
	if mirrored != "failed Degraded, Synced since 2026-11-18T11:00:00Z: pods crash" {
		t.Errorf("mirrored: %q", mirrored)
	}
	without, err := w.Reconciler().Reconcile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.waits(without, "staging", "dev healthy: Degraded, Synced since 2026-11-18T11:00:00Z: pods crash")
	w.Clock.Add(time.Minute)
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
	w.evidence = reconciletest.NewEvidence()
	w.reports("shop-staging", health.Healthy, "", "")
	w.reconcile()
	if mirrored := w.Forge.StatusOf(landed, "promoter/health/dev/shop"); mirrored != "passed Healthy, Synced since 2026-11-18T11:01:00Z" {
		t.Errorf("mirrored: %q", mirrored)
	}
	w.holds("prod", "1.1.0 1.0.0")
}

// Another user may set a status of the same name. It counts for nothing.
func TestHealth_statusOfOthersDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(web, "1.1.0")
	w.reconcile()
	w.Forge.Describe(w.Git.Branch("main"), "promoter/health/dev/shop", "passed", "Healthy since 2026-11-18T10:00:00Z")
	w.waits(w.reconcile(), "staging", "dev healthy: no source has reported")
}

// A pull request that is open when the parent becomes unhealthy is not merged.
func TestHealth_lostBeforeTheChildLanded(t *testing.T) {
	t.Parallel()
	config := strings.Replace(monitored, "land: automerge}", "land: automerge, gates: {checks: [ci]}}", 1)
	w := newMonitoredWorld(t, config)
	w.push(web, "1.1.0")
	w.reconcile()
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.reports("shop-staging", health.Healthy, "", "")
	w.reconcile()
	head := w.Git.Branch("promoter/prod/shop")
	w.Clock.Add(time.Minute)
	w.reports("shop-staging", health.Degraded, "", "pods crash")
	w.Forge.Check(head, "ci", "passed")
	w.waits(w.reconcile(), "prod", "staging healthy: Degraded")
	w.holds("prod", "1.0.0 1.0.0")
	pull := w.Forge.All()[0]
	if !strings.Contains(pull.Body, "pods crash") || pull.State != "open" {
		t.Errorf("%s:\n%s", pull.State, pull.Body)
	}
	w.Clock.Add(time.Minute)
	w.reports("shop-staging", health.Healthy, "", "")
	w.reconcile()
	w.holds("prod", "1.1.0 1.0.0")
}

func TestHealth_soakCountsFromHealthy(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, strings.Replace(monitored, "after: {dev: {healthy: true}}", "after: {dev: {soak: 1h}}", 1))
	w.push(web, "1.1.0")
	w.reconcile()
	w.Clock.Add(time.Hour)
	w.reports("shop-dev", health.Healthy, "", "")
	w.waits(w.reconcile(), "staging", "dev soak: healthy since 2026-11-18T12:00:00Z")
	w.Clock.Add(59 * time.Minute)
	w.reports("shop-dev", health.Degraded, "", "")
	w.waits(w.reconcile(), "staging", "dev soak: Degraded")
	w.Clock.Add(time.Minute)
	w.reports("shop-dev", health.Healthy, "", "")
	w.waits(w.reconcile(), "staging", "dev soak: healthy since 2026-11-18T13:00:00Z")
	w.Clock.Add(time.Hour)
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
}

func TestHealth_failsAfterTheTimeout(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(web, "1.1.0")
	w.reconcile()
	w.Clock.Add(24 * time.Hour)
	w.waits(w.reconcile(), "staging", "dev healthy: no source has reported")
	w.reports("shop-dev", health.Progressing, "", "")
	w.reconcile()
	w.Clock.Add(10 * time.Minute)
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	report := w.reconcile()
	w.waits(report, "staging", "dev healthy: Degraded")
	if got := noteOf(report, "dev", promotion.RuleHealth); got != "desired web 1.1.0, worker 1.0.0; Degraded, Synced since 2026-11-19T11:10:00Z: pods crash" {
		t.Errorf("dev shows %q", got)
	}
	w.Clock.Add(5 * time.Minute)
	w.waits(w.reconcile(), "staging", "dev healthy: failed: Degraded for 15m: pods crash")
	if got := noteOf(w.reconcile(), "dev", promotion.RuleFailed); got != "desired web 1.1.0, worker 1.0.0; failed: Degraded for 15m: pods crash" {
		t.Errorf("dev shows %q", got)
	}
	// It stays failed, without a database too.
	w.Clock.Add(5 * time.Minute)
	w.reports("shop-dev", health.Healthy, "", "")
	w.evidence.Forget()
	w.waits(w.reconcile(), "staging", "dev healthy: failed: Degraded for 15m: pods crash")
	w.push(web, "1.2.0")
	w.reconcile()
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.2.0 1.0.0")
}

func TestHealth_rollsBackOnce(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, strings.Replace(monitored, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
	w.push(web, "1.1.0")
	w.reconcile()
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	w.reconcile()
	w.Clock.Add(15 * time.Minute)
	report := w.reconcile()
	w.holds("dev", "1.0.0 1.0.0")
	if message := report.Effects[0].Reason.Message; message != "rolled back: Degraded for 15m: pods crash: web 1.1.0 -> 1.0.0" || report.Effects[0].Reason.Rule != promotion.RuleOnFailure {
		t.Errorf("because %q", message)
	}
	// What it returned to is unhealthy too: nothing more happens.
	w.Clock.Add(time.Minute)
	w.reports("shop-dev", health.Degraded, "", "still")
	w.evidence.Forget()
	w.reconcile()
	w.Clock.Add(time.Hour)
	w.reconcile()
	w.holds("dev", "1.0.0 1.0.0")

	w.push(web, "1.2.0")
	w.reconcile()
	w.holds("dev", "1.2.0 1.0.0")
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.2.0 1.0.0")
}

// What was there before failed as well, when it was returned to: the next failure stays.
func TestHealth_neverRollsBackToWhatFailed(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, strings.Replace(monitored, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
	fail := func() {
		w.reports("shop-dev", health.Degraded, "", "pods crash")
		w.reconcile()
		w.Clock.Add(16 * time.Minute)
		w.reconcile()
		w.Clock.Add(time.Minute)
	}
	w.push(web, "1.1.0")
	w.reconcile()
	fail()
	w.holds("dev", "1.0.0 1.0.0")
	fail()
	w.push(web, "1.2.0")
	w.reconcile()
	fail()
	w.holds("dev", "1.2.0 1.0.0")
	if got := noteOf(w.reconcile(), "dev", promotion.RuleFailed); !strings.Contains(got, "failed: Degraded for 15m: pods crash") {
		t.Errorf("dev shows %q", got)
	}
}

// A version that a user reverted earlier does not come back when newer ones fail, also with
// another version of the other component.
func TestHealth_neverRollsBackToWhatAUserReverted(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]string{"alone": "1.0.0", "beside another": "1.1.0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMonitoredWorld(t, strings.Replace(monitored, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
			fail := func() {
				w.reports("shop-dev", health.Degraded, "", "pods crash")
				w.reconcile()
				w.Clock.Add(16 * time.Minute)
				w.reconcile()
				w.Clock.Add(time.Minute)
			}
			w.push(web, "1.1.0")
			w.reconcile()
			if after != "1.0.0" {
				w.push(worker, after)
				w.reconcile()
			}
			w.holds("dev", "1.1.0 "+after)
			w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
			w.reconcile()
			w.push(web, "1.2.0")
			w.reconcile()
			w.holds("dev", "1.2.0 "+after)
			fail()
			w.holds("dev", "1.0.0 "+after)
			fail()
			w.push(web, "1.3.0")
			w.reconcile()
			fail()
			if after == "1.0.0" {
				w.holds("dev", "1.3.0 1.0.0")
			} else {
				w.holds("dev", "1.0.0 1.0.0") // what was there before both
			}
		})
	}
}

// What failed stays out of the child when a newer version replaces it, also if it was healthy in
// the end.
func TestHealth_staysFailedAfterTheParentMovedOn(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(web, "1.1.0")
	w.reconcile()
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	w.reconcile()
	w.Clock.Add(16 * time.Minute)
	w.reconcile()
	w.reports("shop-dev", health.Healthy, "", "")
	w.waits(w.reconcile(), "staging", "dev healthy: failed: Degraded for 15m: pods crash")
	w.Clock.Add(time.Minute)
	w.push(web, "1.2.0")
	w.reconcile()
	w.holds("dev", "1.2.0 1.0.0")
	w.holds("staging", "1.0.0 1.0.0")
	w.reports("shop-dev", health.Healthy, "", "")
	w.reconcile()
	w.holds("staging", "1.2.0 1.0.0")
}

// Where pull requests bring versions, one brings back the versions of before. No user requested
// it, and its reason is the failure.
func TestHealth_rollsBackByPullRequest(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"pr", "automerge"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			config := strings.Replace(monitored, "land: push\n    health: {argocd: [\"{application}-dev\"", "land: "+land+"\n    health: {argocd: [\"{application}-dev\"", 1)
			w := newMonitoredWorld(t, strings.Replace(config, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
			lands := func(number int) {
				t.Helper()
				if land == "pr" {
					w.holds("dev", map[int]string{1: "1.0.0 1.0.0", 2: "1.1.0 1.0.0", 3: "1.0.0 1.0.0"}[number])
					w.mergeByHand(number, "merge")
				}
				w.reconcile()
			}
			w.push(web, "1.1.0")
			w.reconcile()
			lands(1)
			w.holds("dev", "1.1.0 1.0.0")
			w.reports("shop-dev", health.Degraded, "", "pods crash")
			w.reconcile()
			w.Clock.Add(15 * time.Minute)
			w.reconcile()
			back := w.pull(2)
			if back.Base != "main" || back.Title != "Roll back shop in dev: web 1.0.0" || !strings.Contains(back.Body, "Degraded for 15m: pods crash") {
				t.Errorf("%s\n%s", back.Title, back.Body)
			}
			w.wantAttributions(back.Head.Commit, "Reason: Degraded for 15m: pods crash")
			lands(2)
			w.holds("dev", "1.0.0 1.0.0")
			w.wantPulls("promoter/dev/shop merged", "promoter/dev/shop merged")

			// It happens once, and 1.1.0 does not come back.
			w.reports("shop-dev", health.Degraded, "", "still")
			w.evidence.Forget()
			w.Clock.Add(time.Hour)
			w.reconcile()
			w.wantPulls("promoter/dev/shop merged", "promoter/dev/shop merged")
			w.push(web, "1.2.0")
			w.reconcile()
			lands(3)
			w.holds("dev", "1.2.0 1.0.0")
		})
	}
}

// While the pull request of a rollback is open, users decide otherwise: they close it, bring
// something else, or reject the versions of before.
func TestHealth_usersEndARollback(t *testing.T) {
	t.Parallel()
	config := strings.Replace(monitored, "land: push\n    health: {argocd: [\"{application}-dev\"", "land: pr\n    health: {argocd: [\"{application}-dev\"", 1)
	for name, end := range map[string]struct {
		by    func(*monitoredWorld)
		holds string
	}{
		"close":   {func(w *monitoredWorld) { w.Forge.CloseByHand(2, "ada") }, "1.1.0 1.0.0"},
		"by hand": {func(w *monitoredWorld) { w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.2.0")) }, "1.2.0 1.0.0"},
		"reject": {func(w *monitoredWorld) {
			w.decide(state.Reject(in("dev"), state.Rejection{Act: w.act(""), Images: map[string]string{"web": line(web, "1.0.0")}}))
		}, "1.1.0 1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMonitoredWorld(t, strings.Replace(config, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
			w.push(web, "1.1.0")
			w.reconcile()
			w.mergeByHand(1, "merge")
			w.reconcile()
			w.reports("shop-dev", health.Degraded, "", "pods crash")
			w.reconcile()
			w.Clock.Add(15 * time.Minute)
			w.reconcile()
			w.wantPulls("promoter/dev/shop merged", "promoter/dev/shop open")
			w.Clock.Add(time.Minute)
			end.by(w)
			w.reconcile()
			w.Clock.Add(time.Hour)
			w.reconcile()
			w.wantPulls("promoter/dev/shop merged", "promoter/dev/shop closed")
			w.holds("dev", end.holds)
			if back := w.state().At(in("dev")).Rollback; back != nil {
				t.Errorf("the rollback stays: %v", back)
			}
			w.push(web, "1.3.0")
			w.reconcile()
			w.mergeByHand(3, "merge")
			w.holds("dev", "1.3.0 1.0.0")
		})
	}
}

// A bot that closes the pull request of an automatic rollback ends it neither: it is opened again once, then it waits
// for a user, with the reason, and a newer version still proceeds.
func TestHealth_botClosesTheAutomaticRollback(t *testing.T) {
	t.Parallel()
	config := strings.Replace(monitored, "land: push\n    health: {argocd: [\"{application}-dev\"", "land: pr\n    health: {argocd: [\"{application}-dev\"", 1)
	w := newMonitoredWorld(t, strings.Replace(config, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
	w.push(web, "1.1.0")
	w.reconcile()
	w.mergeByHand(1, "merge")
	w.reconcile()
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	w.reconcile()
	w.Clock.Add(15 * time.Minute)
	w.reconcile()
	for _, number := range []int{2, 3} {
		w.Clock.Add(time.Minute)
		w.Forge.CloseByHand(number, "stale[bot]")
		w.reconcile()
	}
	w.wantPulls("promoter/dev/shop merged", "promoter/dev/shop closed", "promoter/dev/shop closed")
	w.waits(w.reconcile(), "dev", "web 1.0.0 is blocked: the bot stale[bot] closed #3")
	if back := w.state().At(in("dev")).Rollback; back == nil {
		t.Error("the bot ended the rollback")
	}
	w.push(web, "1.2.0")
	w.reconcile()
	w.wantPulls("promoter/dev/shop merged", "promoter/dev/shop closed", "promoter/dev/shop closed", "promoter/dev/shop open")
}

// A rollback that is not possible stops no newer version.
func TestHealth_newerVersionReplacesAnImpossibleRollback(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, strings.Replace(monitored, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1))
	w.push(web, "1.1.0")
	w.reconcile()
	w.Registry.Delete(web, reconciletest.Digest("web 1.0.0"))
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	w.reconcile()
	w.Clock.Add(15 * time.Minute)
	w.waits(w.reconcile(), "dev", "web 1.0.0: image missing: no longer in the registry")
	w.holds("dev", "1.1.0 1.0.0")
	w.push(web, "1.2.0")
	w.reconcile()
	w.holds("dev", "1.2.0 1.0.0")
}
