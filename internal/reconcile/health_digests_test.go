package reconcile_test

import (
	"testing"

	"promoter/internal/health"
	"promoter/internal/reconcile/reconciletest"
)

// runs reports digests that run in dev, without a commit.
func (w *monitoredWorld) runs(status health.Status, versions ...string) {
	report := health.Report{Source: health.ArgoCD, Receiver: "argo", Subject: "shop-dev", Status: status, At: w.Clock.Now()}
	for _, version := range versions {
		report.Digests = append(report.Digests, reconciletest.Digest(version))
	}
	w.evidence.Report(report)
}

func TestHealth_digestsNeedOnlyBeOfWhatLanded(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(worker, "1.1.0")
	w.reconcile()
	w.runs(health.Healthy, "worker 1.1.0", "proxy 7.0.0")
	w.reconcile()
	w.holds("staging", "1.0.0 1.1.0")
}

// The landing changed worker only, but web of before still runs beside it: these versions were
// never healthy together.
func TestHealth_digestOfAnotherVersionContradictsALanding(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(web, "1.1.0")
	w.reconcile()
	w.push(worker, "1.1.0")
	w.reconcile()
	w.holds("dev", "1.1.0 1.1.0")
	w.runs(health.Healthy, "web 1.0.0", "worker 1.1.0")
	w.waits(w.reconcile(), "staging", "dev healthy: shop-dev last reported Healthy about other digests")
	w.holds("staging", "1.0.0 1.0.0")

	w.runs(health.Healthy, "web 1.1.0", "worker 1.1.0")
	w.reconcile()
	w.holds("staging", "1.1.0 1.1.0")
}

// What a user wrote over a landing was healthy, and is replaced by the user again. That was not
// about the landing.
func TestHealth_digestThatAUserWroteContradictsALanding(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, monitored)
	w.push(worker, "1.1.0")
	w.reconcile()
	w.byHand("main", "dev", line(web, "1.0.0"), line(web, "1.8.0"))
	w.byHand("main", "dev", line(web, "1.8.0"), line(web, "1.9.0"))
	w.runs(health.Healthy, "web 1.8.0", "worker 1.1.0")
	w.reconcile()
	w.holds("dev", "1.9.0 1.1.0")
	w.holds("staging", "1.0.0 1.0.0")
}
