package app_test

import (
	"strings"
	"testing"

	"promoter/internal/scm/github/githubtest"
)

// overlays is an environment with a kustomization whose base is outside of its paths, and a chart.
func overlays() map[string]string {
	files := webIn("pr, pullRequest: {rendered: true}")
	delete(files, "dev/app.yaml")
	files["base/kustomization.yaml"] = "resources: [deployment.yaml]\n"
	files["base/deployment.yaml"] = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers: [{name: web, image: $R/acme/web}]\n"
	files["dev/web/kustomization.yaml"] = "resources: [../../base]\nnamePrefix: dev-\nimages: [{name: $R/acme/web, newTag: 1.4.0}]\n"
	return files
}

const allowRendering = "rendering: {repositories: [\"**\"]}"

// bodyOf returns the body of the first pull request.
func bodyOf(repository *githubtest.Repository) string { return repository.Pulls.Get(1).Body }

func TestRun_pullRequestShowsRenderedManifests(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	repository := o.repository("acme/gitops", overlays())
	o.app.Install("acme")
	o.run(allowRendering)
	body := bodyOf(repository)
	for _, want := range []string{
		"<summary>Rendered manifests of <code>kustomization dev/web</code>: 1 object changes</summary>",
		"```diff\n--- Deployment dev-web\n+++ Deployment dev-web\n",
		"-      - image: " + o.host + "/acme/web:1.4.0\n+      - image: " + o.host + "/acme/web:1.5.0\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in:\n%s", want, body)
		}
	}
	if got := did(o.run(allowRendering)["acme/gitops"]); got != "[]" {
		t.Errorf("the second run: %s", got)
	}
}

func TestRun_serverDecidesAboutRendering(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	repository := o.repository("acme/gitops", overlays())
	o.app.Install("acme")
	o.run("rendering: {repositories: [\"*/other/*\"]}")
	if body := bodyOf(repository); strings.Contains(body, "```diff") || !strings.Contains(body, "name it under rendering in the server file") {
		t.Errorf("got %s", body)
	}
}

func TestRun_longRenderedManifestsAreACheck(t *testing.T) {
	t.Parallel()
	files := overlays()
	files["dev/chart/Chart.yaml"] = "apiVersion: v2\nname: shop\nversion: 0.1.0\n"
	files["dev/chart/values.yaml"] = "image: {repository: $R/acme/web, tag: 1.4.0}\n"
	files["dev/chart/templates/web.yaml"] = `{{ range $i := until 200 }}
---
apiVersion: v1
kind: Pod
metadata: {name: web-{{ $i }}}
spec:
  containers: [{name: web, image: "{{ $.Values.image.repository }}:{{ $.Values.image.tag }}"}]
{{ end }}`
	o := newOrchard(t)
	repository := o.repository("acme/gitops", files)
	o.app.Install("acme")
	o.run(allowRendering)
	body, head := bodyOf(repository), repository.Pulls.Get(1).HeadCommit
	if !strings.Contains(body, "`Helm chart dev/chart`: 200 objects change, too long to show here") || !strings.Contains(body, "1 object changes") {
		t.Errorf("got %s", body)
	}
	if summary := repository.Summary(head, "promoter/rendered"); !strings.Contains(summary, "+  containers: [{name: web, image: \""+o.host+"/acme/web:1.5.0\"}]") || !strings.Contains(summary, "### `Helm chart dev/chart`") {
		t.Errorf("the summary is %.2000s", summary)
	}
	if got := did(o.run(allowRendering)["acme/gitops"]); got != "[]" {
		t.Errorf("the second run: %s", got)
	}
	if n := o.github.Traffic.Requests()["POST /repos/{owner}/{repo}/check-runs"]; n != 1 {
		t.Errorf("the check was created %d times", n)
	}

	// Without the permission, the rest of the pull request is the same.
	less := needed()
	less["checks"] = "read"
	other := newOrchard(t)
	second := other.repository("acme/gitops", files)
	other.app.Install("acme").Permit(less)
	if got := other.run(allowRendering)["acme/gitops"]; got.Failed() || !strings.Contains(bodyOf(second), "too long to show here") {
		t.Errorf("without the permission: %s", did(got))
	}
}
