package simulate_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/simulate"
	"promoter/internal/state"
)

const web = "quay.io/acme/web"

// pipeline is pushed to dev; users merge in staging, promoter in prod.
const pipeline = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: [dev]}
  prod: {paths: ["prod/{application}.txt"], after: {staging: {soak: 24h}}, land: automerge, gates: {windows: [office]}}
windows:
  office: {kind: allow, schedule: "0 9 * * 1-4", duration: 7h, timeZone: Europe/Berlin}
`

// monitored is promoted when what landed upstream is healthy.
const monitored = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging:
    paths: ["staging/{application}.txt"]
    after: [dev]
    land: push
    health: {api: true, from: ci, timeout: 15m, onFailure: rollback}
  prod: {paths: ["prod/{application}.txt"], after: {staging: {healthy: true, soak: 1h}}, land: push}
`

// newWorld has web 1.0.0 everywhere, and 1.1.0 in the registry. It is Wednesday noon in Berlin.
func newWorld(t *testing.T, config string) *reconciletest.World {
	t.Helper()
	files := map[string]string{}
	for _, environment := range []string{"dev", "staging", "prod"} {
		files[environment+"/shop.txt"] = web + ":1.0.0@" + reconciletest.Digest("web 1.0.0") + "\n"
	}
	w := reconciletest.New(config, files)
	w.Registry.Push(web, "1.0.0", "web 1.0.0", w.Clock.Now().Add(-time.Hour))
	w.Registry.Push(web, "1.1.0", "web 1.1.0", w.Clock.Now().Add(-time.Minute))
	return w
}

// run simulates some days, checks that nothing was written, and returns the result as text.
func run(t *testing.T, w *reconciletest.World, options simulate.Options) string {
	t.Helper()
	options.Until = w.Clock.Now().Add(7 * 24 * time.Hour)
	before := maps.Clone(w.Git.Branches())
	reconciler := w.Reconciler()
	result, err := simulate.Run(t.Context(), *reconciler, options)
	if err != nil || result.Report.Failed() {
		t.Fatalf("%v, %+v %s", err, result.Report.Errors, result.Report.Unusable)
	}
	if diff := cmp.Diff(before, w.Git.Branches()); diff != "" {
		t.Errorf("branches were written:\n%s", diff)
	}
	var b strings.Builder
	for _, e := range result.Events {
		b.WriteString(e.At.UTC().Format("Mon 15:04 ") + e.Environment + " " + string(e.Kind) + ": " + e.Message)
		if e.Assumed {
			b.WriteString(" (assumed)")
		}
		b.WriteString("\n")
	}
	for _, wait := range result.Waits {
		b.WriteString(wait.Environment + " waits: " + string(wait.Kind) + " " + wait.String() + "\n")
	}
	if !result.Next.IsZero() {
		b.WriteString("next " + result.Next.UTC().Format("Mon 15:04") + "\n")
	}
	return b.String()
}

func TestRun(t *testing.T) {
	t.Parallel()
	staging, shop := promotion.Target{Environment: "staging"}, promotion.Target{Environment: "staging", Application: "shop"}
	tests := []struct {
		name, config string
		options      simulate.Options
		want         string
	}{
		{"users merge", pipeline, simulate.Options{}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging opened: dev has: web 1.0.0 -> 1.1.0
staging waits: merge a user merges the pull request
`},
		{"assumed merges, a soak, and a window", pipeline, simulate.Options{Merged: true}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging opened: dev has: web 1.0.0 -> 1.1.0
Wed 11:00 staging merged: dev has: web 1.0.0 -> 1.1.0 (assumed)
Thu 11:00 prod passed: staging soak 1d passes
Thu 11:00 prod opened: staging has: web 1.0.0 -> 1.1.0
Thu 11:00 prod merged: staging has: web 1.0.0 -> 1.1.0
`},
		{"the window opens later", strings.ReplaceAll(pipeline, "24h", "30h"), simulate.Options{Merged: true}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging opened: dev has: web 1.0.0 -> 1.1.0
Wed 11:00 staging merged: dev has: web 1.0.0 -> 1.1.0 (assumed)
Thu 17:00 prod passed: staging soak 1d6h passes
Thu 17:00 prod opened: staging has: web 1.0.0 -> 1.1.0
Mon 08:00 prod passed: window office opens
Mon 08:00 prod merged: staging has: web 1.0.0 -> 1.1.0
`},
		{"a check of users", strings.ReplaceAll(pipeline, "{windows: [office]}", "{checks: [e2e]}"), simulate.Options{Merged: true}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging opened: dev has: web 1.0.0 -> 1.1.0
Wed 11:00 staging merged: dev has: web 1.0.0 -> 1.1.0 (assumed)
Thu 11:00 prod passed: staging soak 1d passes
Thu 11:00 prod opened: staging has: web 1.0.0 -> 1.1.0
Thu 11:00 prod merged: staging has: web 1.0.0 -> 1.1.0 (assumed)
`},
		{"a version of tomorrow", pipeline, simulate.Options{With: []string{"web:1.2.0@" + reconciletest.Digest("web 1.2.0")}}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.2.0
Wed 11:00 staging opened: dev has: web 1.0.0 -> 1.2.0
staging waits: merge a user merges the pull request
`},
		{"health that is not reported", monitored, simulate.Options{}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging pushed: dev has: web 1.0.0 -> 1.1.0
prod waits: condition staging healthy not reported: no source has reported: send reports to POST /api/v1/evidence as ci
`},
		{"assumed to be healthy", monitored, simulate.Options{Health: map[promotion.Target]health.Status{staging: health.Healthy}}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging pushed: dev has: web 1.0.0 -> 1.1.0
Wed 12:00 prod passed: staging soak 1h passes
Wed 12:00 prod pushed: staging has: web 1.0.0 -> 1.1.0
`},
		{"assumed to be degraded", monitored, simulate.Options{Health: map[promotion.Target]health.Status{staging: health.Healthy, shop: health.Degraded}}, `Wed 11:00 dev pushed: newer: web 1.0.0 -> 1.1.0
Wed 11:00 staging pushed: dev has: web 1.0.0 -> 1.1.0
Wed 11:15 staging passed: the timeout of health passes: Degraded
Wed 11:15 staging pushed: rolled back: Degraded for 15m: assumed: web 1.1.0 -> 1.0.0
staging waits: decision web 1.1.0 was rejected by promoter on 2026-11-18: Degraded for 15m: assumed
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, run(t, newWorld(t, test.config), test.options)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What exists is where a simulation begins: an open pull request is merged under its number, and
// a hold of a user stays.
func TestRun_beginsWithWhatExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pipeline)
	if _, err := w.Reconciler().Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `Wed 11:00 staging merged: dev has: web 1.0.0 -> 1.1.0 (assumed)
Thu 11:00 prod passed: staging soak 1d passes
Thu 11:00 prod opened: staging has: web 1.0.0 -> 1.1.0
Thu 11:00 prod merged: staging has: web 1.0.0 -> 1.1.0
`
	if diff := cmp.Diff(want, run(t, w, simulate.Options{Merged: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	branch := w.Reconciler().Clients.StateBranch()
	act := state.Act{At: w.Clock.Now(), Reason: "incident 42"}
	act.By.Login = "ann"
	if _, err := branch.Record(t.Context(), "Hold", state.Hold(state.Target{Environment: "prod", Application: "shop"}, act)); err != nil {
		t.Fatal(err)
	}
	want = `Wed 11:00 staging merged: dev has: web 1.0.0 -> 1.1.0 (assumed)
Thu 11:00 prod passed: staging soak 1d passes
prod waits: decision on hold by ann since 2026-11-18: incident 42
`
	if diff := cmp.Diff(want, run(t, w, simulate.Options{Merged: true})); diff != "" {
		t.Errorf("with a hold (-want +got):\n%s", diff)
	}
}
