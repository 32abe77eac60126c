package main

import (
	"archive/tar"
	"bytes"
	stdcmp "cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"promoter/internal/git/gittest"
	"promoter/internal/registry/registrytest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// The pipelines of docs/guides/ci.md: the tests run each script as the system that it is for
// would, with the files of a repository, a forge, and a registry on loopback.

// root is the root of the repository.
var root = filepath.Join("..", "..")

// action is action.yml as far as the tests interpret it.
type action struct {
	Inputs map[string]struct {
		Default  string
		Required bool
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	Name, ID, If, Shell, Run, Uses string
	Env, With                      map[string]string
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// job is one run of the action in a workflow.
type job struct {
	t       *testing.T
	action  action
	dir     string // the workspace
	temp    string
	context map[string]string // of expressions
	env     []string
	outputs map[string]string // as steps.ID.outputs.NAME
	path    []string
}

func newJob(t *testing.T, dir string, inputs, context map[string]string) *job {
	t.Helper()
	j := &job{t: t, dir: dir, temp: t.TempDir(), context: maps.Clone(context), outputs: map[string]string{}}
	readYAML(t, "action.yml", &j.action)
	j.context["runner.temp"] = j.temp
	for name, input := range j.action.Inputs {
		value, given := inputs[name]
		if input.Required && !given {
			t.Fatalf("the input %s is required", name)
		}
		j.context["inputs."+name] = stdcmp.Or(value, input.Default)
		delete(inputs, name)
	}
	if len(inputs) > 0 {
		t.Fatalf("action.yml has no inputs %v", inputs)
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	j.env = append(gittest.Environ(), "GITHUB_ACTION_PATH="+here, "RUNNER_TEMP="+j.temp, "DOCKER_CONFIG="+j.temp,
		"GITHUB_EVENT_NAME="+context["github.event_name"], "GITHUB_REPOSITORY="+context["github.repository"], "GITHUB_API_URL="+context["github.api_url"])
	return j
}

// run runs the steps, and returns what they print and whether one failed.
func (j *job) run() (out string, failed bool) {
	j.t.Helper()
	for _, one := range j.action.Runs.Steps {
		if one.If != "" && !j.holds(one.If) {
			continue
		}
		script := filepath.Join(j.temp, "script.sh")
		write(j.t, script, one.Run)
		for _, name := range []string{"output", "path"} {
			write(j.t, filepath.Join(j.temp, name), "")
		}
		command := exec.CommandContext(j.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		command.Dir, command.Env = j.dir, append(slices.Clone(j.env), "GITHUB_OUTPUT="+filepath.Join(j.temp, "output"),
			"GITHUB_PATH="+filepath.Join(j.temp, "path"), "GITHUB_STEP_SUMMARY="+filepath.Join(j.temp, "summary"))
		for name, value := range one.Env {
			command.Env = append(command.Env, name+"="+j.text(value))
		}
		if len(j.path) > 0 {
			command.Env = append(command.Env, "PATH="+strings.Join(j.path, ":")+":"+os.Getenv("PATH"))
		}
		printed, err := command.CombinedOutput()
		out += string(printed)
		for line := range strings.Lines(j.file("output")) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			j.outputs["steps."+one.ID+".outputs."+name] = value
		}
		j.path = append(j.path, strings.Fields(j.file("path"))...)
		if err != nil {
			return out, true
		}
	}
	return out, false
}

func (j *job) file(name string) string {
	j.t.Helper()
	text, err := os.ReadFile(filepath.Join(j.temp, name))
	if err != nil {
		j.t.Fatal(err)
	}
	return string(text)
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// text evaluates the expressions in a value.
func (j *job) text(value string) string {
	return expression.ReplaceAllStringFunc(value, func(found string) string {
		return j.value(expression.FindStringSubmatch(found)[1])
	})
}

// value evaluates the forms of expressions that action.yml has: A || B, A && B, A == B, names,
// and texts.
func (j *job) value(text string) string {
	j.t.Helper()
	if or := strings.Split(text, " || "); len(or) > 1 {
		return stdcmp.Or(j.value(or[0]), j.value(strings.Join(or[1:], " || ")))
	}
	if and := strings.Split(text, " && "); len(and) > 1 {
		for _, one := range and {
			if text = j.value(one); text == "" {
				return ""
			}
		}
		return text
	}
	if left, right, equal := strings.Cut(text, " == "); equal {
		if j.value(left) == j.value(right) {
			return "true"
		}
		return ""
	}
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		return strings.TrimSuffix(quoted, "'")
	}
	if value, ok := j.context[text]; ok {
		return value
	}
	if value, ok := j.outputs[text]; ok {
		return value
	}
	j.t.Fatalf("the context has no %s", text)
	return ""
}

func (j *job) holds(condition string) bool { return j.value(condition) != "" }

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newRelease serves an archive of version 0.1.0 in the form of a release, and returns its URL
// and checksum. Its program is the one of this test.
func newRelease(t *testing.T) (url, checksum string) {
	t.Helper()
	program, err := exec.LookPath("promoter")
	if err != nil {
		t.Fatal(err)
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", program)
	var archive bytes.Buffer
	packed := gzip.NewWriter(&archive)
	files := tar.NewWriter(packed)
	if err := files.WriteHeader(&tar.Header{Name: "promoter_0.1.0_" + platform + "/promoter", Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	for _, done := range []func() error{func() error { _, err := io.WriteString(files, text); return err }, files.Close, packed.Close} {
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/acme/promoter/releases/download/v0.1.0/promoter_0.1.0_"+platform+".tar.gz" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(archive.Bytes())
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(archive.Bytes())
	return server.URL, hex.EncodeToString(sum[:])
}

// pipelineFiles are the files of a repository: dev and prod of one application.
func pipelineFiles(host string) map[string]string {
	return map[string]string{
		".promoter.yaml": strings.ReplaceAll(`version: 1
components:
  web: {image: "$R/acme/web", select: {semver: ">=1"}}
environments:
  dev: {paths: ["apps/{application}/dev"]}
  prod: {paths: ["apps/{application}/prod"], after: [dev], land: pr}
`, "$R", host),
		"apps/shop/dev/app.yaml":  "image: " + host + "/acme/web:1.4.0\n",
		"apps/shop/prod/app.yaml": "image: " + host + "/acme/web:1.3.0\n",
	}
}

// needs skips the test if a program of the scripts is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing", program)
		}
	}
}

func newImages(t *testing.T) *registrytest.Server {
	t.Helper()
	images := registrytest.New(t)
	for _, tag := range []string{"1.3.0", "1.4.0", "1.5.0"} {
		images.Push(t, "acme/web:"+tag, tag)
	}
	return images
}

// cloneOfPull clones a repository as a pipeline does, shallow and without a branch, with a commit
// that edit makes on the branch feature.
func cloneOfPull(t *testing.T, clone string, edit func(dir string)) string {
	t.Helper()
	folder := t.TempDir()
	gittest.Exec(t, folder, "clone", "-q", clone, "user")
	user := filepath.Join(folder, "user")
	gittest.Exec(t, user, "checkout", "-q", "-b", "feature")
	edit(user)
	gittest.Exec(t, user, "add", ".")
	gittest.Exec(t, user, "commit", "-q", "--allow-empty", "-m", "Change")
	gittest.Exec(t, user, "push", "-q", "origin", "feature")
	gittest.Exec(t, folder, "clone", "-q", "--depth=1", "--branch=feature", clone, "ci")
	ci := filepath.Join(folder, "ci")
	gittest.Exec(t, ci, "checkout", "-q", "--detach")
	return ci
}

// pullRequest is a pull request on a GitHub, with the clone of its workflow.
type pullRequest struct {
	repository *githubtest.Repository
	number     int
	host       string // of the registry
	dir        string
	context    map[string]string
	checksum   string
}

// newPullRequest opens a pull request that moves dev back, and whose config file names another
// registry. A user wrote a comment that begins like the one of the action.
func newPullRequest(t *testing.T) pullRequest {
	t.Helper()
	needs(t, "git", "bash", "curl", "jq")
	images, hub := newImages(t), githubtest.New(t, githubtest.Options{})
	releases, checksum := newRelease(t)
	repository := hub.NewRepository("acme/gitops", pipelineFiles(images.Host))
	for _, login := range []string{"ann", "github-actions[bot]"} {
		hub.AddUser(login)
		repository.Settings.Permit(login, "write")
	}
	clone := strings.Replace(repository.Settings.CloneURL(), "://", "://ann:"+hub.Token("ann", "repo")+"@", 1)
	dir := cloneOfPull(t, clone, func(dir string) {
		write(t, filepath.Join(dir, ".promoter.yaml"), `version: 1
components:
  web: {image: "registry.evil.example/web", select: {semver: ">=1"}}
environments:
  dev: {paths: ["apps/{application}/dev"]}
`)
		write(t, filepath.Join(dir, "apps", "shop", "dev", "app.yaml"), "image: "+images.Host+"/acme/web:1.3.0\n")
	})
	number := repository.Pulls.Open("ann", "feature", "main", "Change")
	repository.Pulls.Comment("ann", number, forged)
	return pullRequest{repository: repository, number: number, host: images.Host, dir: dir, checksum: checksum, context: map[string]string{
		"github.server_url": releases, "github.action_repository": "acme/promoter", "github.event_name": "pull_request",
		"github.repository": "acme/gitops", "github.api_url": strings.TrimSuffix(hub.API(), "/"),
		"github.event.pull_request.number": strconv.Itoa(number), "github.event.pull_request.head.repo.full_name": "acme/gitops",
		"github.event.repository.default_branch": "main", "github.token": hub.Token("github-actions[bot]", "repo"), "github.sha": "0",
	}}
}

// forged is a comment of a user with the first line of the action's.
const forged = "<!-- promoter plan of . -->\nforged"

// plan runs the action on the pull request.
func (p pullRequest) plan(t *testing.T) (j *job, out string, failed bool) {
	t.Helper()
	j = newJob(t, p.dir, map[string]string{"command": "plan", "version": "0.1.0", "sha256": p.checksum}, p.context)
	out, failed = j.run()
	return j, out, failed
}

// A pull request gets one comment, which a second run updates; its own config file decides
// nothing, and a comment of another user with the same beginning is left.
func TestCI_githubPlansPullRequests(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	if _, out, failed := p.plan(t); failed {
		t.Fatal(out)
	}
	comments := p.repository.Pulls.Get(p.number).Comments
	if len(comments) != 2 || comments[1].Author != "github-actions[bot]" {
		t.Fatalf("comments: %v", comments)
	}
	for _, want := range []string{"| dev | shop | proposed | newer: web 1.3.0 -> 1.5.0 |", "+image: " + p.host + "/acme/web:1.5.0"} {
		if !strings.Contains(comments[1].Body, want) {
			t.Errorf("the comment has no %q:\n%s", want, comments[1].Body)
		}
	}
	for _, environment := range []string{"dev", "prod"} {
		write(t, filepath.Join(p.dir, "apps", "shop", environment, "app.yaml"), "image: "+p.host+"/acme/web:1.5.0\n")
	}
	if _, out, failed := p.plan(t); failed {
		t.Fatal(out)
	}
	updated := p.repository.Pulls.Get(p.number).Comments
	if len(updated) != 2 || updated[0].Body != forged || !strings.Contains(updated[1].Body, "Nothing to change.") {
		t.Errorf("after the second run: %v", updated)
	}
}

// The comment shows the mistakes, and the job fails.
func TestCI_githubShowsAnInvalidConfig(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	write(t, filepath.Join(p.dir, ".promoter.yaml"), "version: 1\nenvironment: {}\n")
	_, out, failed := p.plan(t)
	comments := p.repository.Pulls.Get(p.number).Comments
	if !failed || !strings.Contains(out, ".promoter.yaml:2") || len(comments) != 2 || !strings.Contains(comments[1].Body, "There is no plan:\n\n    ") {
		t.Errorf("failed: %v\n%s\n%v", failed, out, comments)
	}
}

// The pull request that adds the first config file has no plan, and passes.
func TestCI_githubValidatesTheFirstConfig(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	base := strings.Replace(gittest.Exec(t, p.dir, "remote", "get-url", "origin"), "\n", "", 1)
	user := filepath.Join(t.TempDir(), "user")
	gittest.Exec(t, p.dir, "clone", "-q", base, user)
	gittest.Exec(t, user, "rm", "-q", ".promoter.yaml")
	gittest.Exec(t, user, "commit", "-q", "-m", "Remove the config")
	gittest.Exec(t, user, "push", "-q", "origin", "main")
	_, out, failed := p.plan(t)
	comments := p.repository.Pulls.Get(p.number).Comments
	if failed || len(comments) != 2 || !strings.Contains(comments[1].Body, "the base has no config file yet") {
		t.Errorf("failed: %v\n%s\n%v", failed, out, comments)
	}
}

// The token of a pull request of a fork may not write. Its plan is in the summary.
func TestCI_githubPlansForks(t *testing.T) {
	t.Parallel()
	p := newPullRequest(t)
	p.context["github.event.pull_request.head.repo.full_name"], p.context["github.token"] = "eve/gitops", "read-only"
	j, out, failed := p.plan(t)
	if failed || !strings.Contains(j.file("summary"), "### Plan of promoter") {
		t.Errorf("failed: %v\n%s", failed, out)
	}
	if comments := p.repository.Pulls.Get(p.number).Comments; len(comments) != 1 {
		t.Errorf("comments: %v", comments)
	}
}

func TestCI_githubRefuses(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "curl")
	releases, checksum := newRelease(t)
	for _, test := range []struct{ name, event, repository, command, sha256, want string }{
		{"secrets for forks", "pull_request_target", "acme/promoter", "plan", checksum, "use pull_request"},
		{"another archive", "push", "acme/promoter", "validate", strings.Repeat("0", 64), "the archive has the SHA-256 " + checksum},
		{"an archive without a checksum", "push", "acme/promoter", "validate", "", "the archive has the SHA-256 " + checksum},
		{"an unknown address of the releases", "push", "", "validate", checksum, "want the URL of the releases"},
		{"an unknown command", "push", "acme/promoter", "deploy", checksum, "want validate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, t.TempDir(), map[string]string{"command": test.command, "version": "0.1.0", "sha256": test.sha256},
				map[string]string{"github.event_name": test.event, "github.server_url": releases, "github.action_repository": test.repository, "github.sha": "0"})
			if out, failed := j.run(); !failed || !strings.Contains(out, test.want) {
				t.Errorf("failed: %v\n%s", failed, out)
			}
		})
	}
}

// Inputs are never code, whatever they contain.
func TestCI_githubAppliesAfterABuild(t *testing.T) {
	t.Parallel()
	needs(t, "git", "bash", "curl")
	dir, context := t.TempDir(), map[string]string{
		"github.event_name": "push", "github.server_url": "", "github.action_repository": "", "github.sha": "0",
	}
	for name, text := range pipelineFiles("quay.io") {
		write(t, filepath.Join(dir, name), text)
	}
	apply := func(version string) (j *job, out string, failed bool) {
		j = newJob(t, dir, map[string]string{
			"command": "apply", "with": version, "environments": "dev\n", "paths": "apps/shop/**\napps/$(touch hacked)/**",
		}, context)
		out, failed = j.run()
		return j, out, failed
	}
	for _, want := range []string{"true", "false"} {
		j, out, failed := apply("quay.io/acme/web:1.5.0\n")
		if got := j.outputs["steps.apply.outputs.changed"]; failed || got != want {
			t.Errorf("changed: %q, want %q\n%s", got, want, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "apps", "shop", "dev", "app.yaml"))
	if err != nil || string(text) != "image: quay.io/acme/web:1.5.0\n" {
		t.Errorf("%s, %v", text, err)
	}
	if _, out, failed := apply("\"; touch hacked; $(touch hacked)`touch hacked`"); !failed {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
		t.Error("an input was executed")
	}
}

func TestCI_githubRunsOnASchedule(t *testing.T) {
	t.Parallel()
	needs(t, "git", "bash")
	images, hub := newImages(t), githubtest.New(t, githubtest.Options{})
	repository := hub.NewRepository("acme/gitops", pipelineFiles(images.Host))
	hub.AddUser("promoter-bot")
	repository.Settings.Permit("promoter-bot", "write")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "server.yaml"), fmt.Sprintf(`version: 1
forges:
  github: {kind: github, url: "%s", insecure: true, token: "env:PROMOTER_GITHUB_TOKEN"}
repositories:
  - {forge: github, name: acme/gitops}
registries:
  - {host: "%s", insecure: true}
networks: [127.0.0.0/8]
`, hub.URL(), images.Host))
	j := newJob(t, dir, map[string]string{
		"command": "run", "config": "server.yaml", "repository": "acme/gitops", "token": hub.Token("promoter-bot", "repo", "read:org"),
	}, map[string]string{"github.event_name": "schedule", "github.server_url": "", "github.action_repository": "", "github.sha": "0"})
	if out, failed := j.run(); failed {
		t.Fatal(out)
	}
	var titles []string
	for _, pull := range repository.Pulls.All() {
		titles = append(titles, pull.Title)
	}
	if len(titles) == 0 {
		t.Error("no pull request was opened")
	}
}

// The step where sends its token to the service only, and shows what the service knows.
func TestCI_githubShowsWhereACommitIs(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	const search = "$(touch hacked)"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+strings.Repeat("t", 32) || r.URL.Path != "/api/v1/where" || !slices.Contains(slices.Concat(slices.Collect(maps.Values(r.URL.Query()))...), search) {
			http.Error(w, r.URL.String(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"versions":[{"component":"cart","version":"1.6.0","application":"shop","repository":"github.com/acme/gitops","environments":[]}]}`)
	}))
	t.Cleanup(service.Close)
	dir := t.TempDir()
	j := newJob(t, dir, map[string]string{"command": "where", "search": search, "service": service.URL, "token": strings.Repeat("t", 32)},
		map[string]string{"github.event_name": "push", "github.server_url": "", "github.action_repository": "", "github.sha": "0"})
	if out, failed := j.run(); failed || !strings.Contains(j.file("summary"), "    cart 1.6.0 of shop in github.com/acme/gitops") {
		t.Errorf("failed: %v\n%s", failed, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
		t.Error("an input was executed")
	}
}

// component is templates/promoter.yml as far as the test interprets it.
type component map[string]struct {
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Script       []string
}

func readComponent(t *testing.T) (jobs component, inputs map[string]struct{ Default *string }) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "templates", "promoter.yml"))
	if err != nil {
		t.Fatal(err)
	}
	header, body, _ := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Default *string }
		}
	}
	if err := yaml.Unmarshal([]byte(header), &spec); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(body), &jobs); err != nil {
		t.Fatal(err)
	}
	return jobs, spec.Spec.Inputs
}

func TestCI_gitlabPlansMergeRequests(t *testing.T) {
	t.Parallel()
	needs(t, "git", "sh", "curl", "jq")
	images, lab := newImages(t), gitlabtest.New(t, gitlabtest.Options{})
	releases, checksum := newRelease(t)
	project := lab.NewProject("acme/gitops", pipelineFiles(images.Host))
	lab.AddUser("ann")
	lab.AddBot("bot")
	project.Settings.Permit("ann", gitlabtest.Maintainer)
	project.Settings.Permit("bot", gitlabtest.Developer)
	clone := strings.Replace(project.Settings.CloneURL(), "://", "://oauth2:"+lab.Token("ann", "api", "write_repository")+"@", 1)
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "secret")
	dir := cloneOfPull(t, clone, func(dir string) {
		if err := os.Symlink(secret, filepath.Join(dir, "promoter-plan.md")); err != nil {
			t.Fatal(err)
		}
	})
	number := project.Pulls.Open("ann", "feature", "main", "Change")
	project.Pulls.Comment("ann", number, forged)
	jobs, declared := readComponent(t)
	inputs := map[string]string{
		"version": "0.1.0", "sha256": checksum, "url": releases + "/acme/promoter/releases/download", "image": "debian", "dir": ".", "stage": "test",
	}
	for name := range declared {
		if _, ok := inputs[name]; !ok {
			t.Errorf("the test gives no input %s", name)
		}
	}
	// run runs a job as a runner does: all lines in one shell.
	run := func(name, token string) (string, error) {
		variables := map[string]string{
			"CI_JOB_ID": filepath.Base(filepath.Dir(dir)), "CI_DEFAULT_BRANCH": "main", "CI_API_V4_URL": lab.URL() + "/api/v4",
			"CI_MERGE_REQUEST_PROJECT_ID": strconv.Itoa(project.ID()), "CI_MERGE_REQUEST_IID": strconv.Itoa(number), "PROMOTER_COMMENT_TOKEN": token,
		}
		before := jobs[".promoter"].BeforeScript
		if jobs[name].BeforeScript != nil {
			before = jobs[name].BeforeScript
		}
		for _, from := range []map[string]string{jobs[".promoter"].Variables, jobs[name].Variables} {
			for variable, value := range from {
				for input, given := range inputs {
					value = strings.ReplaceAll(value, "$[[ inputs."+input+" ]]", given)
				}
				variables[variable] = os.Expand(value, func(v string) string { return variables[v] })
			}
		}
		command := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.Join(append(slices.Clone(before), jobs[name].Script...), "\n"))
		command.Dir, command.Env = dir, append(gittest.Environ(), "DOCKER_CONFIG="+t.TempDir())
		for variable, value := range variables {
			command.Env = append(command.Env, variable+"="+value)
		}
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := run("promoter-plan", ""); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if kept, err := os.ReadFile(secret); err != nil || string(kept) != "secret" {
		t.Errorf("the merge request redirected the plan: %q, %v", kept, err)
	}
	token := lab.Token("bot", "api")
	for _, given := range []string{"", token, token} {
		if out, err := run("promoter-comment", given); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	comments := project.Pulls.Get(number).Comments
	if len(comments) != 2 || comments[0].Body != forged || comments[1].Author != "bot" ||
		!strings.Contains(comments[1].Body, "| dev | shop | proposed | newer: web 1.4.0 -> 1.5.0 |") {
		t.Errorf("comments: %v", comments)
	}
	write(t, filepath.Join(dir, ".promoter.yaml"), "version: 1\nenvironment: {}\n")
	if out, err := run("promoter-plan", ""); err == nil || !strings.Contains(out, "There is no plan:") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A component of GitLab is one file, so it repeats the scripts that the action has as files.
func TestCI_gitlabHasTheScriptsOfConfigCI(t *testing.T) {
	t.Parallel()
	jobs, _ := readComponent(t)
	for file, got := range map[string]string{
		"install.sh":        jobs[".promoter"].BeforeScript[0],
		"plan.sh":           jobs["promoter-plan"].Script[0],
		"gitlab/comment.sh": jobs["promoter-comment"].Script[0],
	} {
		text, err := os.ReadFile(filepath.Join(root, "config", "ci", file))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(text), "\nset -eu\n")
		if diff := cmp.Diff("set -eu\n"+body, got); diff != "" {
			t.Errorf("%s (-file +templates/promoter.yml):\n%s", file, diff)
		}
	}
}

// No input is part of a script: it would be code.
func TestCI_scriptsHaveNoExpressions(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{}
	var here action
	readYAML(t, "action.yml", &here)
	for _, one := range here.Runs.Steps {
		if one.Uses != "" || one.Run == "" {
			t.Errorf("action.yml: the step %s is no script", one.Name)
		}
		scripts["action.yml "+one.Name] = one.Run
	}
	jobs, _ := readComponent(t)
	for name, one := range jobs {
		scripts["templates/promoter.yml "+name] = strings.Join(append(one.BeforeScript, one.Script...), "\n")
	}
	for name, script := range scripts {
		if strings.Contains(script, "${{") || strings.Contains(script, "$[[") {
			t.Errorf("%s: an expression in a script:\n%s", name, script)
		}
	}
}

// The workflows use only inputs and outputs that action.yml has, name commits of actions of
// others, and begin with no permissions or read access.
func TestCI_workflows(t *testing.T) {
	t.Parallel()
	var here action
	readYAML(t, "action.yml", &here)
	files, err := filepath.Glob(filepath.Join(root, "config", "ci", "github", "*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	pinned := regexp.MustCompile(`@[0-9a-f]{40}$`)
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct{ Steps []step }
		}
		readYAML(t, name, &workflow)
		if workflow.Permissions == nil {
			t.Errorf("%s has no permissions", name)
		}
		for _, job := range workflow.Jobs {
			for _, one := range job.Steps {
				if strings.Contains(one.Run, "${{") {
					t.Errorf("%s: an expression in a script:\n%s", name, one.Run)
				}
				if !strings.HasPrefix(one.Uses, "acme/promoter@") {
					if one.Uses != "" && !pinned.MatchString(one.Uses) {
						t.Errorf("%s: %s is not pinned", name, one.Uses)
					}
					continue
				}
				for input := range one.With {
					if _, ok := here.Inputs[input]; !ok {
						t.Errorf("%s: action.yml has no input %s", name, input)
					}
				}
			}
		}
	}
}

// TestCI_pageQuotesTheWorkflows compares the workflows of docs/guides/ci.md with those that are checked.
func TestCI_pageQuotesTheWorkflows(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plan", "run", "build"} {
		text, err := os.ReadFile(filepath.Join(root, "config", "ci", "github", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```yaml\n"+string(text)+"```\n") {
			t.Errorf("docs/guides/ci.md does not quote config/ci/github/%s.yaml", name)
		}
	}
}
