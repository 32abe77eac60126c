package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/health"
	"promoter/internal/reconcile/reconciletest"
)

// A pull request lists what it does not change, and no other one does.
func TestReconcile_driftInPullRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Add a cache", func(all map[string]string) {
		for environment, tag := range map[string]string{"dev": "7.2", "staging": "7.0", "prod": "7.0"} {
			all[environment+"/shop.txt"] += "docker.io/library/redis:" + tag + "\n"
		}
	})
	report := w.pushAndRun(web, "1.1.0")
	const line = "no component follows redis: dev has 7.2 (dev/shop.txt:3), and staging has 7.0 (staging/shop.txt:3)"
	if body := w.pull(1).Body; !strings.Contains(body, "**Not changed here:**\n\n- "+line+"\n") {
		t.Errorf("the pull request has\n%s", body)
	}
	if len(report.Drift) != 1 || report.Drift[0].String() != line {
		t.Errorf("reported %+v", report.Drift)
	}
	var unfollowed []string
	for _, reference := range report.Unfollowed["main"] {
		unfollowed = append(unfollowed, reference.Position.File+" "+reference.Repository.Familiar()+" "+reference.Tag)
	}
	if diff := cmp.Diff([]string{"dev/shop.txt redis 7.2", "prod/shop.txt redis 7.0", "staging/shop.txt redis 7.0"}, slices.Sorted(slices.Values(unfollowed))); diff != "" {
		t.Error(diff)
	}
	w.calm()
	w.mergeByHand(1, "merge")
	w.run()
	if body := w.pull(2).Body; strings.Contains(body, "Not changed here") {
		t.Errorf("that for prod, which has the same one as staging, has\n%s", body)
	}
}

// What an engine reports to run is drift where the files have something else for longer than a
// rollout takes.
func TestReconcile_driftOfWhatRuns(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	before := w.Git.Branch("main")
	w.push(web, "1.1.0")
	w.reports("shop-dev", health.Healthy, before, "ok\x1b[31m")
	w.reconcile()
	w.Clock.Add(14 * time.Minute)
	w.reports("shop-dev", health.Healthy, before, "ok\x1b[31m")
	drifts := func(want ...string) {
		t.Helper()
		var got []string
		for _, one := range w.reconcile().Drift {
			got = append(got, string(one.Kind)+" "+one.Environment+": "+one.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	drifts()
	w.Clock.Add(time.Minute)
	drifts("actual dev: desired web 1.1.0, worker 1.0.0, actual web 1.0.0: shop-dev is Healthy, Synced, since 2026-11-18T11:00:00Z: ok[31m")

	w.reports("shop-dev", health.Healthy, "", "")
	drifts()

	w.Clock.Add(time.Hour)
	w.evidence.Report(health.Report{
		Source: health.ArgoCD, Receiver: "argo", Subject: "shop-dev", Status: health.Healthy, Sync: health.OutOfSync, Message: "automatic sync is off",
		Revisions: []string{w.Git.Branch("main")}, At: w.Clock.Now(),
	})
	drifts()
	w.Clock.Add(15 * time.Minute)
	drifts("actual dev: desired web 1.1.0, worker 1.0.0, and shop-dev is Progressing, OutOfSync, since 2026-11-18T12:15:00Z: automatic sync is off")

	// A user of the engine returned to the old version.
	w.Clock.Add(time.Hour)
	w.reports("shop-dev", health.Healthy, before, "rolled back")
	drifts()
	w.Clock.Add(20 * time.Minute)
	drifts("actual dev: desired web 1.1.0, worker 1.0.0, actual web 1.0.0: shop-dev is Healthy, Synced, since 2026-11-18T13:30:00Z: rolled back")

	// Digests are known from what landed before.
	w.push(web, "1.2.0")
	w.evidence.Report(health.Report{
		Source: health.ArgoCD, Receiver: "argo", Subject: "shop-dev", Status: health.Degraded, Digests: []string{reconciletest.Digest("web 1.1.0")}, At: w.Clock.Now(),
	})
	w.reconcile()
	w.Clock.Add(15 * time.Minute)
	drifts("actual dev: desired web 1.2.0, worker 1.0.0, actual web 1.1.0: shop-dev is Degraded, since 2026-11-18T13:50:00Z")
}
