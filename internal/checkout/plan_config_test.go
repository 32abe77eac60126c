package checkout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Environments may share files when they follow different components in them.
func TestPlan_onlyAndSharedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}, only: {environments: [front]}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}, only: {environments: [back]}}
environments:
  front: {paths: [apps]}
  back: {paths: [apps]}
`,
		"apps/a.yaml": "one: $R/acme/web:1.0.0 # w\ntwo: $R/acme/worker:1.0.0\n",
		"apps/b.yaml": "two: $R/acme/worker:1.0.0\n",
	})
	w.push("acme/web:1.1.0", "web")
	w.push("acme/worker:1.2.0", "worker")
	opened, preview := w.plan(w.options())
	w.compare(preview,
		"front/default proposed: newer: web 1.0.0 -> 1.1.0",
		"back/default proposed: newer: worker 1.0.0 -> 1.2.0")
	applied, err := opened.Apply(t.Context(), preview)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apps/a.yaml", "apps/a.yaml", "apps/b.yaml"}, applied.Files); diff != "" {
		t.Error(diff)
	}
	want := w.expand("one: $R/acme/web:1.1.0 # w\ntwo: $R/acme/worker:1.2.0\n")
	if diff := cmp.Diff(want, w.read("apps/a.yaml")); diff != "" {
		t.Error(diff)
	}
	w.expect(w.options(), "front/default same: already up to date", "back/default same: already up to date")
}

func TestPlan_patternsAndOverrides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  teams: {image: "$R/team-*/**", select: {semver: ">=1"}}
  special: {image: $R/team-a/special, select: {semver: "<2"}}
applications:
  slow:
    environments:
      dev: {propose: manual}
environments:
  dev: {paths: ["apps/{application}"]}
`,
		"apps/fast/a.yaml": "a: $R/team-a/web:1.0.0\nb: $R/team-b/x/y:1.0.0\nc: $R/team-a/special:1.0.0\nd: $R/other/web:1.0.0\n",
		"apps/slow/a.yaml": "a: $R/team-a/web:1.0.0\n",
	})
	for _, repository := range []string{"team-a/web", "team-b/x/y", "team-a/special", "other/web"} {
		w.push(repository+":1.5.0", "old")
		w.push(repository+":2.5.0", "new")
	}
	preview := w.expect(w.options(),
		"dev/fast proposed: newer: special 1.0.0 -> 1.5.0, team-a-web-HASH 1.0.0 -> 2.5.0, team-b-x-y-HASH 1.0.0 -> 2.5.0",
		"dev/slow waiting: propose is manual: waiting for a request")
	if preview.Targets[1].Changed() {
		t.Error("what waits would be written")
	}
	if n := w.registry.RequestsFor("other/web"); n > 0 {
		t.Errorf("a repository that nothing follows was asked about %d times", n)
	}
	options := w.options()
	options.Environments = []string{"dev"}
	_, preview = w.plan(options)
	if target := preview.Targets[1]; !target.Changed() {
		t.Errorf("requested by name: %s: %s", target.State, target.Reason)
	}
}

func TestPlan_configuredPlaces(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".promoter.yaml": `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev:
    paths: ["apps/{application}"]
    write:
      - {file: "apps/{application}/v.yaml", path: app.version, component: web, value: "{tag}"}
      - {file: "apps/{application}/v.yaml", path: app.label, component: web, value: "{environment}-{application}-{version}", create: true}
      - {file: "apps/{application}/notes.txt", regex: "release ([0-9.]+)", component: web, value: "{version}"}
`,
		"apps/shop/a.yaml":    "image: $R/acme/web:1.0.0\n",
		"apps/shop/v.yaml":    "app:\n  version: \"1.0.0\" # here\n",
		"apps/shop/notes.txt": "now release 1.0.0, web\n",
	}
	w := newWorld(t, files)
	w.push("acme/web:1.1.0", "new")
	applied := w.apply(w.options())
	if diff := cmp.Diff([]string{"apps/shop/a.yaml", "apps/shop/notes.txt", "apps/shop/v.yaml"}, applied.Files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("app:\n  version: \"1.1.0\" # here\n  label: \"dev-shop-1.1.0\"\n", w.read("apps/shop/v.yaml")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("now release 1.1.0, web\n", w.read("apps/shop/notes.txt")); diff != "" {
		t.Error(diff)
	}
	if again := w.apply(w.options()); len(again.Files) > 0 {
		t.Errorf("the second run wrote %q", again.Files)
	}

	// A key that is missing is an error by default, and so is a file.
	for name, content := range map[string]string{"a missing key": "app: {}\n", "a missing file": ""} {
		other := newWorld(t, files)
		other.push("acme/web:1.1.0", "new")
		if content == "" {
			other.write("apps/shop/w.yaml", "x: 1\n")
			other.write(".promoter.yaml", strings.ReplaceAll(files[".promoter.yaml"], "notes.txt", "gone.txt"))
		} else {
			other.write("apps/shop/v.yaml", content)
		}
		_, preview := other.plan(other.options())
		if target := preview.Targets[0]; target.State != "refused" || target.Changed() {
			t.Errorf("%s: %s: %s", name, target.State, target.Reason)
		}
	}
}

func TestPlan_chartsAreComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  shop: {chart: "oci://$R/charts/shop", select: {semver: ">=1"}}
environments:
  dev: {}
`,
		"app.yaml": `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop}
spec:
  source:
    repoURL: $R/charts
    chart: shop
    targetRevision: 1.0.0
`,
	})
	w.registry.PushChart(t, "charts/shop:1.0.0", "old")
	w.registry.PushChart(t, "charts/shop:1.1.0", "new")
	w.push("charts/shop:1.2.0", "an image")
	w.apply(w.options())
	if got := w.read("app.yaml"); !strings.Contains(got, "targetRevision: 1.1.0\n") {
		t.Errorf("the chart's version stays:\n%s", got)
	}
}
