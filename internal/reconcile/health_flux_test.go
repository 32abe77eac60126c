package reconcile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"promoter/internal/evidence"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

const chart = "quay.io/acme/charts/shop"

// ofFlux is a config with a chart, whose environments Flux deploys.
const ofFlux = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  shop: {chart: "oci://quay.io/acme/charts/shop", select: {semver: ">=1"}}
environments:
  dev:
    paths: ["dev/{application}.txt"]
    land: push
    health: {flux: "FLUX/{environment}/{application}", from: flux}
  prod: {paths: ["prod/{application}.txt"], after: {dev: {healthy: true}}, land: push}
`

// newFluxWorld is a world in which a kind of object of Flux deploys dev.
func newFluxWorld(t *testing.T, kind string) *monitoredWorld {
	t.Helper()
	content := web + ":1.0.0@" + reconciletest.Digest("web 1.0.0") + "\n" + chart + ":1.0.0@" + reconciletest.Digest("shop 1.0.0") + "\n"
	files := map[string]string{"dev/shop.txt": content, "prod/shop.txt": content}
	w := &monitoredWorld{&world{World: reconciletest.New(strings.ReplaceAll(ofFlux, "FLUX", kind), files), t: t}, reconciletest.NewEvidence()}
	w.push(web, "1.0.0")
	w.push(chart, "1.0.0")
	return w
}

// posts reports what Flux posts about dev, with metadata in the published form.
// https://fluxcd.io/flux/components/notification/events/
// https://github.com/fluxcd/helm-controller/blob/v1.4.0/internal/reconcile/release.go
func (w *monitoredWorld) posts(kind, reason, metadata string) {
	w.t.Helper()
	var posted evidence.FluxEvent
	body := fmt.Sprintf(`{"involvedObject": {"kind": %q, "namespace": "dev", "name": "shop", "uid": "4d15be07-2b1a-4cf4-a9a5-fb7e8d8f3f20"},
"severity": "info", "timestamp": %q, "message": "done", "reason": %q, "metadata": {%s}, "reportingController": "helm-controller"}`,
		kind, w.Clock.Now().Format("2006-01-02T15:04:05Z"), reason, metadata)
	if err := json.Unmarshal([]byte(body), &posted); err != nil {
		w.t.Fatal(err)
	}
	report, ignored, err := posted.Report()
	if err != nil || ignored != "" {
		w.t.Fatal(err, ignored)
	}
	report.Health.Receiver = "flux"
	w.evidence.Report(report.Health)
}

// chartOf returns the metadata of an event about a chart from an OCIRepository.
func chartOf(version string) string {
	digest := reconciletest.Digest("shop " + version)
	return fmt.Sprintf(`"revision": "%s+%.12s", "app-version": "9", "oci-digest": %q, "token": "sha256:e"`, version, strings.TrimPrefix(digest, "sha256:"), digest)
}

func TestHealth_helmReleaseIsBoundByVersionAndDigestOfTheChart(t *testing.T) {
	t.Parallel()
	w := newFluxWorld(t, "helmrelease")
	w.push(chart, "1.1.0")
	w.reconcile()
	w.posts("HelmRelease", "UpgradeSucceeded", chartOf("1.0.0"))
	w.waits(w.reconcile(), "prod", "dev healthy: helmrelease/dev/shop last reported Healthy about version 1.0.0+")
	// The version is not that of the digest.
	w.posts("HelmRelease", "UpgradeSucceeded", strings.Replace(chartOf("1.1.0"), "1.1.0+", "1.2.0+", 1))
	w.waits(w.reconcile(), "prod", "dev healthy: helmrelease/dev/shop last reported Healthy about version 1.2.0+")
	w.posts("HelmRelease", "UpgradeFailed", chartOf("1.1.0"))
	w.waits(w.reconcile(), "prod", "dev healthy: Degraded")
	w.posts("HelmRelease", "UpgradeSucceeded", chartOf("1.1.0"))
	w.reconcile()
	if files := w.Git.FilesOf(w.Git.Branch("main"))["prod/shop.txt"]; !strings.Contains(files, chart+":1.1.0@") {
		t.Errorf("prod has\n%s", files)
	}
}

// What a HelmRelease reports cannot be bound to every landing. Then its health is unknown, and
// the reason is shown instead of that nothing reported.
func TestHealth_unknownWhereFluxDoesNotNameTheVersions(t *testing.T) {
	t.Parallel()
	image := func(w *monitoredWorld) { w.push(web, "1.1.0") }
	chartToo := func(w *monitoredWorld) { w.push(chart, "1.1.0") }
	for name, c := range map[string]struct {
		kind, metadata string
		release        func(*monitoredWorld)
		want           string
	}{
		"a chart from a HelmRepository": {
			kind: "HelmRelease", metadata: `"revision": "1.1.0", "token": "sha256:e"`, release: chartToo,
			want: "helmrelease/dev/shop last reported Healthy about version 1.1.0 of a chart, without its digest, and a version may move",
		},
		"an image in the values": {
			kind: "HelmRelease", metadata: chartOf("1.0.0"), release: image,
			want: "of a chart, which does not identify web: monitor the Kustomization that applies it",
		},
		"an artifact without its origin": {
			kind: "Kustomization", metadata: fmt.Sprintf(`"revision": "latest@%s"`, reconciletest.Digest("manifests")), release: image,
			want: "kustomization/dev/shop last reported Healthy about the artifact " + promotion.ShortDigest(reconciletest.Digest("manifests")) +
				", without the commit that it was made from: set its annotation org.opencontainers.image.revision",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFluxWorld(t, strings.ToLower(c.kind))
			c.release(w)
			w.reconcile()
			landed := w.Git.Branch("main")
			w.posts(c.kind, "ReconciliationSucceeded", c.metadata)
			report := w.reconcile()
			w.waits(report, "prod", "dev healthy: Unknown, Synced since 2026-11-18T11:00:00Z: ")
			if got := noteOf(report, "dev", promotion.RuleHealth); !strings.Contains(got, c.want) {
				t.Errorf("dev shows %q, want %q", got, c.want)
			}
			if mirrored := w.Forge.StatusOf(landed, "promoter/health/dev/shop"); !strings.HasPrefix(mirrored, "pending Unknown, Synced since 2026-11-18T11:00:00Z: ") {
				t.Errorf("mirrored: %q", mirrored)
			}
		})
	}
}

// The manifests are in an OCI artifact, which was made from a commit of the repository.
func TestHealth_artifactIsBoundByItsOrigin(t *testing.T) {
	t.Parallel()
	w := newFluxWorld(t, "kustomization")
	before := w.Git.Branch("main")
	w.push(web, "1.1.0")
	w.reconcile()
	origin := func(commit string) string {
		return fmt.Sprintf(`"revision": "latest@%s", "originRevision": "main@sha1:%s"`, reconciletest.Digest("manifests"), commit)
	}
	w.posts("Kustomization", "ReconciliationSucceeded", origin(before))
	w.waits(w.reconcile(), "prod", "dev healthy: kustomization/dev/shop last reported Healthy about "+before[:7])
	w.posts("Kustomization", "ReconciliationSucceeded", origin(w.Git.Branch("main")))
	w.reconcile()
	if files := w.Git.FilesOf(w.Git.Branch("main"))["prod/shop.txt"]; !strings.Contains(files, web+":1.1.0@") {
		t.Errorf("prod has\n%s", files)
	}
}

// Without a receiver, the commit statuses of Flux count. Their state is only the severity of the
// event: a dependency that is not ready is a success.
func TestHealth_commitStatusOfFlux(t *testing.T) {
	t.Parallel()
	w := newFluxWorld(t, "kustomization")
	w.edit(", from: flux", "")
	w.push(web, "1.1.0")
	w.waits(w.reconcile(), "prod", "dev healthy: no source has reported: let Flux set the commit status of kustomization/dev/shop")
	landed := w.Git.Branch("main")
	for _, c := range []struct {
		context     string
		state       scm.CheckState
		description string
		want        string
	}{
		{"kustomization/shop/0d9ea5e2", "passed", "dependency not ready", "Progressing since"},
		{"kustomization/shop/0d9ea5e2", "failed", "artifact failed", "Unknown since"},
		{"kustomization/shop/0d9ea5e2", "failed", "health check failed", "Degraded since"},
		{"kustomization/other/0d9ea5e2", "passed", "reconciliation succeeded", "Degraded since"},
	} {
		w.Forge.Describe(landed, c.context, c.state, c.description)
		w.waits(w.reconcile(), "prod", "dev healthy: "+c.want)
	}
	w.Forge.Describe(landed, "kustomization/shop/0d9ea5e2", "passed", "reconciliation succeeded")
	w.reconcile()
	if files := w.Git.FilesOf(w.Git.Branch("main"))["prod/shop.txt"]; !strings.Contains(files, web+":1.1.0@") {
		t.Errorf("prod has\n%s", files)
	}
}
