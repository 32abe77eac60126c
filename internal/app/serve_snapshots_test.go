package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/decision"
	"promoter/internal/snapshot"
	"promoter/internal/verb"
	"promoter/internal/view"
)

// byPipeline is a config in which only a pipeline brings versions to dev.
const byPipeline = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], propose: manual, land: pr}
  staging: {paths: ["staging/{application}.yaml"], after: [dev], land: push}
`

// pipelineReceivers may post for the applications shop and blog, and for blog alone.
func pipelineReceivers(s *story) string {
	return fmt.Sprintf(`  pipeline: {kind: snapshot, secret: "env:HOOK", snapshots: [{repositories: ["%s/acme/*"], applications: [shop, blog]}]}
  elsewhere: {kind: snapshot, secret: "env:TOKEN", snapshots: [{repositories: ["%[1]s/acme/gitops"], applications: [blog]}]}
`, s.forge.Host())
}

// posted is the response to a posted snapshot.
type posted struct {
	status int
	text   string
	api.Requested
}

// postSnapshot posts a snapshot to the API.
func (w *served) postSnapshot(secret, query, body string) posted {
	w.t.Helper()
	return w.call(http.MethodPost, "/api/v1/snapshots"+query, secret, w.expand(body))
}

func (w *served) call(method, path, secret, body string, headers ...string) (response posted) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	response.status, response.text = answer.StatusCode, string(text)
	if err := json.Unmarshal(text, &response.Requested); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return response
}

// read reads JSON from the API.
func read[T any](w *served, path string, headers ...string) (value T) {
	w.t.Helper()
	got := w.call(http.MethodGet, path, serveToken, "", headers...)
	if got.status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, got.status, got.text)
	}
	if err := json.Unmarshal([]byte(got.text), &value); err != nil {
		w.t.Fatalf("%s: %v", got.text, err)
	}
	return value
}

// steps are the steps of a run, in short.
func (w *served) steps(path string) []string {
	w.t.Helper()
	run := read[api.Run](w, path)
	lines := []string{strings.TrimSpace(string(run.State) + " " + run.Result)}
	for _, step := range run.Steps {
		lines = append(lines, step.Environment+" "+string(step.State))
	}
	return lines
}

// resourceOf is a Snapshot resource of the application shop.
func (s *story) resourceOf(name string, versions ...string) string {
	var components []string
	for _, version := range versions {
		component, tag, _ := strings.Cut(version, ":")
		components = append(components, fmt.Sprintf(`{"name": %q, "containerImage": "$R/acme/%s:%s@%s"}`, component, component, tag, s.digests[version]))
	}
	return fmt.Sprintf(`{"apiVersion": "appstudio.redhat.com/v1alpha1", "kind": "Snapshot", "metadata": {"name": %q, "uid": "u-%[1]s"},
"spec": {"application": "shop", "displayDescription": "build 7", "components": [%s], "artifacts": {"unstableFields": {"log": "https://ci.example.com/7"}}}}`,
		name, strings.Join(components, ", "))
}

// A forge that refuses the service is no wrong secret of the pipeline.
func TestServe_postedSnapshotToAForgeThatRefuses(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", byPipeline)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: pipelineReceivers(s)})
	s.forge.Revoke(s.token)
	if got := w.postSnapshot(serveSecret, "", s.resourceOf("release-1", "web:1.0.0", "worker:1.0.0")); got.status != http.StatusForbidden {
		t.Errorf("%d %s", got.status, got.text)
	}
}

// A pipeline posts a Snapshot resource: one pull request has all of its components, and its
// run is completed when the last environment has them.
func TestServe_postedSnapshot(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", byPipeline)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: pipelineReceivers(s)})
	s.release("web", "1.1.0")
	s.release("worker", "1.1.0")
	body := s.resourceOf("shop-x7k2p", "web:1.1.0", "worker:1.1.0")
	first := w.postSnapshot(serveSecret, "", body)
	if first.status != http.StatusCreated || first.Application != "shop" || !slices.Equal(first.Environments, []string{"dev"}) ||
		first.Images["web"] != s.expand("$R/acme/web:1.1.0@")+s.digests["web:1.1.0"] {
		t.Fatalf("%d %s", first.status, first.text)
	}
	w.until("opened")
	w.reconciles()
	s.pulls("promoter/dev/shop open")
	if diff := cmp.Diff([]string{"Active", "dev proposed", "staging waiting"}, w.steps(first.Run)); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	again := w.postSnapshot(serveSecret, "", body)
	if again.status != http.StatusOK || !again.Repeated || again.Run != first.Run {
		t.Errorf("posted again: %d %s", again.status, again.text)
	}
	other := w.postSnapshot(serveSecret, "", s.resourceOf("shop-x7k2p", "web:1.1.0"))
	if other.status != http.StatusConflict {
		t.Errorf("other images under its name: %d %s", other.status, other.text)
	}
	w.stop()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(filepath.Join(s.dir, "data", "promoter.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	w = serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: pipelineReceivers(s)})
	if diff := cmp.Diff([]string{"Active", "dev proposed", "staging waiting"}, w.steps(first.Run)); diff != "" {
		t.Errorf("from a database that was lost (-want +got):\n%s", diff)
	}
	if again := w.postSnapshot(serveSecret, "", body); again.status != http.StatusCreated {
		t.Errorf("posted again after the database was lost: %d %s", again.status, again.text)
	}
	w.reconciles()
	s.repo.Pulls.Merge("ada", 1, "merge")
	w.closed("merge-1")
	s.holds("staging", "1.1.0 1.1.0")
	if diff := cmp.Diff([]string{"Completed Succeeded", "dev landed", "staging landed"}, w.steps(first.Run)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	s.pulls("promoter/dev/shop merged")

	run := read[api.Run](w, first.Run)
	if run.Receiver != "pipeline" || run.Snapshot.Description != "build 7" || string(run.Snapshot.Artifacts) != `{"unstableFields":{"log":"https://ci.example.com/7"}}` ||
		run.Steps[0].PullRequest == nil || run.Steps[0].PullRequest.Number != 1 || run.Steps[1].Commit == "" {
		t.Errorf("the run: %+v", run)
	}
	list := read[snapshot.List](w, "/api/v1/snapshots/staging", "Accept", "application/json;as=Snapshot;v=v1alpha1;g=appstudio.redhat.com")
	if len(list.Items) != 1 || list.Items[0].Metadata.Name != "shop-x7k2p" || list.Items[0].Metadata.UID != "u-shop-x7k2p" || len(list.Items[0].Spec.Components) != 2 {
		t.Errorf("as resources: %+v", list)
	}
	w.stop()
	s.calm()
}

// What is in an environment is shown as it is and as it was, and can be posted again.
func TestServe_snapshotsOfEnvironments(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", strings.NewReplacer("propose: manual, ", "", "land: pr", "land: push").Replace(byPipeline))
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: pipelineReceivers(s)})
	before := s.clock.Now().UTC().Format("2006-01-02T15:04:05Z")
	w.wait(3_600_000_000_000)
	s.release("web", "1.1.0")
	first := w.postSnapshot(serveSecret, "?application=shop", `{"name": "shop-7", "components": {"web": "$R/acme/web:1.1.0"}, "artifacts": [1]}`)
	if first.status != http.StatusCreated {
		t.Fatalf("%d %s", first.status, first.text)
	}
	w.until("pushed")
	w.reconciles()
	type listed struct {
		Snapshots []struct {
			Commit   string
			Snapshot snapshot.Plain
		}
	}
	now := read[listed](w, "/api/v1/snapshots/dev")
	if len(now.Snapshots) != 1 || now.Snapshots[0].Snapshot.Name != "shop-7" || now.Snapshots[0].Commit == "" || string(now.Snapshots[0].Snapshot.Artifacts) != "[1]" ||
		now.Snapshots[0].Snapshot.Components["web"] != s.expand("$R/acme/web:1.1.0@")+s.digests["web:1.1.0"] {
		t.Errorf("now: %+v", now)
	}
	past := read[listed](w, "/api/v1/snapshots/dev?at="+before)
	if len(past.Snapshots) != 1 || !strings.Contains(past.Snapshots[0].Snapshot.Components["web"], "/acme/web:1.0.0") ||
		!strings.Contains(past.Snapshots[0].Snapshot.Components["worker"], "/acme/worker:1.0.0") {
		t.Errorf("before: %+v", past)
	}
	shop := read[view.Application](w, "/api/v1/applications/shop")
	if len(shop.Targets) == 0 || shop.Targets[0].Landed == nil || shop.Targets[0].Landed.Commit != now.Snapshots[0].Commit ||
		len(shop.Targets[0].Components) != 2 || shop.Targets[0].Status != view.UpToDate {
		t.Errorf("the application: %+v", shop)
	}
	bindings := read[api.Bindings](w, "/api/v1/bindings?environment=dev")
	if len(bindings.Bindings) != 1 || bindings.Bindings[0].Snapshot != "shop-7" || bindings.Bindings[0].Summary != "2 of 2 components have the wanted version" ||
		!slices.Equal(bindings.Bindings[0].Paths, []string{"dev/shop.yaml"}) || bindings.Bindings[0].Branch != "main" || bindings.Bindings[0].Commit != now.Snapshots[0].Commit {
		t.Errorf("bindings: %+v", bindings)
	}
	// The past, posted again, never moves back what is there.
	past.Snapshots[0].Snapshot.Name = "yesterday"
	text, err := json.Marshal(past.Snapshots[0].Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	older := w.postSnapshot(serveSecret, "", string(text))
	if strings.Contains(w.call(http.MethodGet, older.Run, serveToken, "").text, "artifacts") {
		t.Error("the run has artifacts that were not posted")
	}
	if older.status != http.StatusCreated {
		t.Fatalf("%d %s", older.status, older.text)
	}
	w.reconciles()
	s.holds("dev", "1.1.0 1.0.0")
	if diff := cmp.Diff([]string{"Completed Superseded", "dev superseded", "staging superseded"}, w.steps(older.Run)); diff != "" {
		t.Errorf("the past (-want +got):\n%s", diff)
	}
	w.stop()
	s.calm()
}

// What cannot be verified, or is not allowed, is refused and changes nothing.
func TestServe_refusedSnapshots(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", strings.ReplaceAll(byPipeline, "worker: {image", "worker: {only: {applications: [shop]}, image"))
	s.repo.Git.Commit("ada", "main", "Another application", map[string]string{"dev/blog.yaml": s.manifest("web:1.0.0")})
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: pipelineReceivers(s)})
	s.release("web", "1.1.0")
	s.release("other", "1.1.0")
	state := s.repo.Git.Head("promoter/_state")
	const web = `"web": "$R/acme/web:1.1.0"`
	for _, test := range []struct {
		name, secret, query, body string
		status                    int
		want                      string
	}{
		{"another credential", "canary-wrong", "", `{"components": {` + web + `}}`, http.StatusUnauthorized, "a wrong or missing secret"},
		{"the token of the API", serveToken, "", `{"components": {` + web + `}}`, http.StatusUnauthorized, "a wrong or missing secret"},
		{"no JSON", serveSecret, "", `{`, http.StatusBadRequest, "its body is not JSON"},
		{"another resource", serveSecret, "", `{"kind": "Release"}`, http.StatusBadRequest, "it is no Snapshot"},
		{"another repository", serveSecret, "?repository=acme/secret", `{"components": {` + web + `}}`, http.StatusNotFound, "for which receiver pipeline may post snapshots"},
		{"an application of others", s.token, "?application=shop", `{"components": {` + web + `}}`, http.StatusNotFound, `there is no application \"shop\" for which receiver elsewhere may post snapshots; there are blog"`},
		{"no application", s.token, "?application=absent", `{"components": {` + web + `}}`, http.StatusNotFound, `there is no application \"absent\" for which receiver elsewhere may post snapshots; there are blog"`},
		{"an image of an application of others", s.token, "?application=blog", `{"components": {` + web + `, "worker": "$R/acme/worker:1.0.0"}}`, http.StatusBadRequest, "no component of blog follows"},
		{"an image of no application", s.token, "?application=blog", `{"components": {` + web + `, "absent": "$R/acme/absent:1.0.0"}}`, http.StatusBadRequest, "no component of blog follows"},
		{"an image of no component", serveSecret, "?application=shop", `{"components": {` + web + `, "other": "$R/acme/other:1.1.0"}}`, http.StatusBadRequest, "no component of shop follows"},
		{"no such tag", serveSecret, "?application=shop", `{"components": {"web": "$R/acme/web:9.9.9"}}`, http.StatusBadRequest, "the registry has no"},
		{"no such digest", serveSecret, "?application=shop", `{"components": {"web": "$R/acme/web@sha256:` + strings.Repeat("0", 64) + `"}}`, http.StatusBadRequest, "the registry has no"},
		{"a digest of another tag", serveSecret, "?application=shop", `{"components": {"web": "$R/acme/web:1.1.0@` + s.digests["web:1.0.0"] + `"}}`, http.StatusBadRequest, "the tag 1.1.0 of"},
		{"several applications", serveSecret, "", `{"components": {` + web + `}}`, http.StatusBadRequest, "its images belong to the applications blog, shop"},
		{"two applications", serveSecret, "?application=blog", `{"components": {` + web + `, "worker": "$R/acme/worker:1.0.0"}}`, http.StatusBadRequest, "belongs to the application shop, and the others to blog"},
		{"an unknown parameter", serveSecret, "?env=dev", `{"components": {` + web + `}}`, http.StatusBadRequest, "is not a parameter"},
		{"large artifacts", serveSecret, "", `{"components": {` + web + `}, "artifacts": "` + strings.Repeat("x", 70_000) + `"}`, http.StatusBadRequest, "its artifacts are larger than 64 KiB"},
	} {
		got := w.postSnapshot(test.secret, test.query, test.body)
		if got.status != test.status || !strings.Contains(got.text, test.want) {
			t.Errorf("%s: %d %s, want %d %s", test.name, got.status, got.text, test.status, test.want)
		}
	}
	if got := w.call(http.MethodGet, "/api/v1/bindings", serveSecret, ""); got.status != http.StatusUnauthorized {
		t.Errorf("a receiver reads: %d", got.status)
	}
	if now := s.repo.Git.Head("promoter/_state"); now != state {
		t.Errorf("the state branch changed: %s", s.repo.Git.Run("log", "-p", "-1", "promoter/_state"))
	}
	w.stop()
	s.calm()
}

// The webhook of a receiver that may post does the same, and the versions that a user requested
// by name come first.
func TestServe_postedByWebhook(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", byPipeline)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: pipelineReceivers(s)})
	s.release("web", "1.1.0")
	s.release("web", "1.2.0")
	s.release("worker", "1.1.0")
	if status := w.post("pipeline", s.expand(s.resourceOf("one", "web:1.1.0", "worker:1.1.0")), "Authorization", "Bearer canary-wrong"); status != http.StatusUnauthorized {
		t.Errorf("another credential: %d", status)
	}
	w.send("pipeline", s.expand(s.resourceOf("one", "web:1.1.0", "worker:1.1.0")), "Authorization", "Bearer "+serveSecret)
	w.until("opened")
	w.reconciles()
	s.pulls("promoter/dev/shop open")
	key, err := os.ReadFile(filepath.Join(s.dir, "data", "seal.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.server = connected(t, filepath.Join(s.dir, "server.yaml"), environ("TOKEN", s.token, "PROMOTER_SEAL_KEY", strings.TrimSpace(string(key))), s.clock.Now)
	s.decide(decision.Decision{Verb: verb.Promote, Environment: "dev", Application: "shop", With: []string{"web:1.1.0"}, Reason: "hotfix"})
	if got := w.postSnapshot(serveSecret, "", s.resourceOf("two", "web:1.2.0")); got.status != http.StatusConflict || !strings.Contains(got.text, "were requested by a user") {
		t.Errorf("after a user: %d %s", got.status, got.text)
	}
	w.stop()
}
