package app_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"promoter/internal/app"
	"promoter/internal/promotion"
	"promoter/internal/promotion/engine"
	"promoter/internal/scm/github/githubtest"
)

// The acceptance cases, each from the command's options down to a real registry
// and a real Git repository. Where it may matter a case is played twice: with a
// fresh clone for each run, and with a mirror that is kept between them.

// chain is the config of most cases: dev is pushed to, staging has pull requests,
// prod merges by itself.
const chain = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  staging: {paths: ["staging/{application}.yaml"], after: [dev]}
  prod: {paths: ["prod/{application}.yaml"], after: [staging], land: automerge}
`

// pushed is the same where everything lands by push.
func pushed() string {
	return strings.NewReplacer("after: [dev]}", "after: [dev], land: push}", "automerge", "push").Replace(chain)
}

// The branches of our pull requests.
const stagingHead, prodHead = "promoter/staging/shop", "promoter/prod/shop"

// story is one repository with its registry and its clock.
type story struct {
	*world
	forge   *githubtest.Server
	repo    *githubtest.Repository
	clock   *clock
	cache   string // empty: every run begins with a fresh clone
	server  *app.Server
	kind    string // of the forge
	token   string
	digests map[string]string // by NAME:TAG
	times   map[string]time.Time
}

// clock goes on as time does, from where the test puts it.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) set(at time.Time) { c.ahead.Store(int64(time.Until(at))) }

// workday is a Wednesday at noon in Berlin, outside every clock change.
func workday() time.Time { return time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC) }

// onGitHub plays a case on GitHub.
func onGitHub(t *testing.T, config string, play func(*story)) { each(t, "github", config, play) }

// onPlain plays a case on plain Git: the same repository, of which only Git is
// known.
func onPlain(t *testing.T, config string, play func(*story)) { each(t, "git", config, play) }

// The ways in which a case is played.
const freshClones, keptMirror = "fresh clones", "kept mirror"

func each(t *testing.T, kind, config string, play func(*story)) {
	t.Helper()
	for _, way := range []string{freshClones, keptMirror} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			once(t, kind, way, config, play)
		})
	}
}

// onceOnGitHub plays a case in which little depends on what the mirror has.
func onceOnGitHub(t *testing.T, config string, play func(*story)) {
	t.Helper()
	once(t, "github", freshClones, config, play)
}

// once plays a case one way. A run after its end writes nothing.
func once(t *testing.T, kind, way, config string, play func(*story)) {
	t.Helper()
	s := newStory(t, kind, config)
	if way == keptMirror {
		s.cache = filepath.Join(s.dir, "cache")
	}
	play(s)
	s.calm()
}

// newStory makes a world in which web and worker stand at 1.0.0 everywhere.
func newStory(t *testing.T, kind, config string) *story {
	t.Helper()
	s := &story{world: newWorld(t, nil), clock: &clock{}, digests: map[string]string{}, times: map[string]time.Time{}}
	s.clock.set(workday())
	s.forge = githubtest.New(t, githubtest.Options{Now: s.clock.Now})
	s.release("web", "1.0.0")
	s.release("worker", "1.0.0")
	files := map[string]string{".promoter.yaml": s.expand(config)}
	for _, environment := range []string{"dev", "staging", "prod"} {
		files[environment+"/shop.yaml"] = s.manifest("web:1.0.0", "worker:1.0.0")
	}
	s.clock.set(workday().AddDate(0, -3, 0)) // nobody wrote to it for long
	s.repo = s.forge.NewRepository("acme/gitops", files)
	s.clock.set(workday())
	for _, who := range []string{"promoter-bot", "ada", "bob"} {
		s.repo.Permit(who, "write")
	}
	s.kind, s.server = kind, s.open(kind)
	return s
}

// open opens the server's file about the repository.
func (s *story) open(kind string) *app.Server {
	s.t.Helper()
	right, repository := `token: "env:TOKEN"`, "acme/gitops"
	if kind == "git" {
		right, repository = `username: promoter-bot, password: "env:TOKEN"`, "acme/gitops.git"
	}
	file := filepath.Join(s.dir, "server.yaml")
	text := fmt.Sprintf(`version: 1
forges:
  forge: {kind: %s, url: "%s", insecure: true, %s}
repositories:
  - {forge: forge, name: %s}
networks: [127.0.0.0/8]
%s`, kind, s.forge.URL(), right, repository, s.expand(insecureRegistry))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	token := s.forge.Token("promoter-bot", "repo", "read:org")
	env := func(name string) (string, bool) { return token, name == "TOKEN" }
	s.token = token
	server, err := app.OpenServer(app.ServerOptions{Config: file, Env: env, Now: s.clock.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	server.SetPace(0)
	return server
}

// release pushes an image that was made a minute ago.
func (s *story) release(component, tag string) string {
	s.t.Helper()
	return s.image(component, tag, component+" "+tag, s.clock.Now().Add(-time.Minute))
}

// image pushes an image with its time; the seed tells it from others.
func (s *story) image(component, tag, seed string, created time.Time) string {
	return s.labelled(component, tag, created, map[string]string{"seed": seed})
}

// sourced pushes an image of web that says from which commit it is.
func (s *story) sourced(tag, revision string) string {
	return s.labelled("web", tag, s.clock.Now().Add(-time.Minute), map[string]string{"org.opencontainers.image.revision": revision})
}

// made is when an image was made.
func (s *story) made(version string) time.Time { return s.times[version] }

func (s *story) labelled(component, tag string, created time.Time, labels map[string]string) string {
	s.t.Helper()
	target, err := name.NewTag(s.host + "/acme/" + component + ":" + tag)
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := mutate.Config(empty.Image, v1.Config{Labels: labels})
	if err == nil {
		made, err = mutate.CreatedAt(made, v1.Time{Time: created.Truncate(time.Second)})
	}
	digest, digestErr := made.Digest()
	if err := errors.Join(err, digestErr, remote.Write(target, made, remote.WithTransport(quiet{}))); err != nil {
		s.t.Fatal(err)
	}
	s.digests[component+":"+tag] = digest.String()
	s.times[component+":"+tag] = created
	return digest.String()
}

// line is how a file holds a version, such as web:1.0.0.
func (s *story) line(version string) string {
	return s.host + "/acme/" + version + "@" + s.digests[version]
}

// manifest is the file of an application with these versions.
func (s *story) manifest(versions ...string) string {
	text := "kind: Deployment\ncontainers:\n"
	for _, version := range versions {
		text += "  - image: " + s.line(version) + "\n"
	}
	return text
}

// edit lets a person replace text in a file of a branch, as a push.
func (s *story) edit(who, branch, path, from, to string) string {
	s.t.Helper()
	at := branch
	if s.repo.Head(branch) == "" {
		at = "main"
	}
	before := s.repo.Git("show", at+":"+path) + "\n"
	if !strings.Contains(before, from) {
		s.t.Fatalf("%s of %s does not hold %q:\n%s", path, branch, from, before)
	}
	return s.repo.Commit(who, branch, "By hand", map[string]string{path: strings.ReplaceAll(before, from, to)})
}

// pass is one run, whatever comes of it.
func (s *story) pass() app.Result {
	s.t.Helper()
	return s.passUnder(s.t.Context())
}

func (s *story) passUnder(ctx context.Context) app.Result {
	s.t.Helper()
	results, err := s.server.Run(ctx, app.RunOptions{CacheDir: s.cache})
	if ctx.Err() != nil {
		return app.Result{Err: err}
	}
	if err != nil || len(results) != 1 {
		s.t.Fatalf("%d results, %v", len(results), err)
	}
	return results[0]
}

// run is one run that must not fail.
func (s *story) run() engine.Report {
	s.t.Helper()
	result := s.pass()
	if result.Failed() {
		s.t.Fatalf("the run failed: %v, %+v, %q, %v", result.Err, result.Report.Trouble, result.Report.State, failures(result.Report))
	}
	return result.Report
}

func failures(report engine.Report) error {
	var all []error
	for _, done := range report.Done {
		all = append(all, done.Err)
	}
	return errors.Join(all...)
}

// calm runs again, and holds that nothing is written: not to Git, not to the forge.
func (s *story) calm() {
	s.t.Helper()
	before := s.written()
	result := s.pass()
	if after := s.written(); before != after {
		s.t.Errorf("the second run wrote (%v, %v):\n%s\nafter\n%s", result.Err, acts(result), after, before)
	}
}

// written is all references, and how often anything was written.
func (s *story) written() string {
	requests := s.forge.Requests()
	text := s.repo.Git("for-each-ref", "--format=%(refname) %(objectname)")
	for _, route := range slices.Sorted(maps.Keys(requests)) {
		if changes(route) {
			text += fmt.Sprintf("\n%s %d", route, requests[route])
		}
	}
	return text
}

// wait lets time pass.
func (s *story) wait(d time.Duration) { s.clock.ahead.Add(int64(d)) }

// decide is a person who says something by a verb.
func (s *story) decide(order app.Order) {
	s.t.Helper()
	order.CacheDir = s.cache
	if _, err := s.server.Decide(s.t.Context(), order); err != nil {
		s.t.Fatal(err)
	}
}

// holds checks which tags an environment's file holds on main, "1.1.0 1.0.0".
func (s *story) holds(environment, want string) {
	s.t.Helper()
	s.holdsOn("main", environment, want)
}

func (s *story) holdsOn(branch, environment, want string) {
	s.t.Helper()
	content := s.repo.Git("show", branch+":"+environment+"/shop.yaml")
	var tags []string
	for line := range strings.Lines(content) {
		if _, reference, ok := strings.Cut(strings.TrimSpace(line), s.host+"/acme/"); ok {
			_, version, _ := strings.Cut(reference, ":")
			tag, _, _ := strings.Cut(version, "@")
			tags = append(tags, tag)
		}
	}
	if got := strings.Join(tags, " "); got != want {
		s.t.Errorf("%s on %s holds %s, want %s", environment, branch, got, want)
	}
}

// pulls checks the pull requests, "promoter/staging/shop open".
func (s *story) pulls(want ...string) {
	s.t.Helper()
	var got []string
	for _, pull := range s.repo.Pulls() {
		state := "open"
		if pull.Merged {
			state = "merged"
		} else if !pull.Open {
			state = "closed"
		}
		got = append(got, pull.Head+" "+state)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("pull requests:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// decision returns what was decided about the application in an environment.
func decision(report engine.Report, environment string) (found promotion.Decision) {
	for _, d := range report.Decisions {
		if d.Environment == environment && d.Application == "shop" {
			found = d
		}
	}
	return found
}

// because checks the state and the reason of an environment.
func (s *story) because(report engine.Report, environment string, parts ...string) {
	s.t.Helper()
	d := decision(report, environment)
	got := string(d.State) + ": " + d.Reason.Words
	for _, done := range report.Done {
		if done.Environment.Name == environment {
			got += "; " + string(done.Step) + ": " + done.Reason.Words
		}
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			s.t.Errorf("%s is %q, want %q in it", environment, got, part)
		}
	}
}

// api is a person who uses GitHub's API.
func (s *story) api(who, method, path, body string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.forge.API()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.forge.Token(who, "repo"))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.forge.Client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = response.Body.Close() // nobody reads it
	if response.StatusCode >= http.StatusBadRequest {
		s.t.Fatalf("%s %s: %s", method, path, response.Status)
	}
}

// changes says whether a request may change anything.
func changes(route string) bool {
	return !strings.HasPrefix(route, "GET ") && route != "GIT info/refs" && route != "GIT upload-pack"
}

// before lets something happen once, just before a request.
func (s *story) before(route string, do func()) {
	var done atomic.Bool
	s.forge.Watch(func(asked string) {
		if strings.Contains(asked, route) && done.CompareAndSwap(false, true) {
			do()
		}
	})
}

// another is a second process elsewhere, whose clock is ahead.
func (s *story) another(ahead time.Duration) *story {
	other := *s
	other.clock, other.cache = &clock{}, ""
	other.clock.set(s.clock.Now().Add(ahead))
	other.server = other.open(s.kind)
	return &other
}
