package app_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/decision"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// The acceptance cases, each from the options of the command down to a real registry
// and a real Git repository. Where it may matter, a case is played twice: with a fresh
// clone for each run, and with a cached mirror.

// chain is the config of most cases: dev lands by push, staging has pull requests, and
// prod merges automatically.
const chain = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  staging: {paths: ["staging/{application}.yaml"], after: [dev]}
  prod: {paths: ["prod/{application}.yaml"], after: [staging], land: automerge}
`

// pushed is the same, with pushes only.
func pushed() string {
	return strings.NewReplacer("after: [dev]}", "after: [dev], land: push}", "automerge", "push").Replace(chain)
}

// The branches of the pull requests.
const stagingHead, prodHead = "promoter/staging/shop", "promoter/prod/shop"

// story is one repository with its registry and its clock.
type story struct {
	*world
	forge   *githubtest.Server
	repo    *githubtest.Repository
	clock   *clock
	cache   string // empty: every run starts with a fresh clone
	server  *connect.Connections
	kind    string // of the forge
	token   string
	digests map[string]string // by NAME:TAG
	times   map[string]time.Time
	around  database.CommitHook // of a service; nil: none
	logged  func(line string)   // is called while a service logs a line; nil: none
}

// clock runs like the real time, from where the test sets it.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) set(at time.Time) { c.ahead.Store(int64(time.Until(at))) }

// workday is a Wednesday at noon in Berlin, outside every clock change.
func workday() time.Time { return time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC) }

// onGitHub plays a case on GitHub.
func onGitHub(t *testing.T, config string, play func(*story)) { each(t, "github", config, play) }

// onPlain plays a case on plain Git: on the same repository, without its forge.
func onPlain(t *testing.T, config string, play func(*story)) {
	t.Helper()
	app.AnotherForge(t)
	each(t, "git", config, play)
}

// The ways in which a case is played.
const freshClones, keptMirror = "fresh clones", "kept mirror"

func each(t *testing.T, kind, config string, play func(*story)) {
	t.Helper()
	ways := []string{keptMirror}
	if app.EveryForge() {
		ways = append(ways, freshClones)
	}
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			once(t, kind, way, config, play)
		})
	}
}

// onceOnGitHub plays a case that hardly depends on the mirror.
func onceOnGitHub(t *testing.T, config string, play func(*story)) {
	t.Helper()
	once(t, "github", freshClones, config, play)
}

// once plays a case in one way. Another run at its end writes nothing.
func once(t *testing.T, kind, way, config string, play func(*story)) {
	t.Helper()
	s := newStory(t, kind, config)
	if way == keptMirror {
		s.cache = filepath.Join(s.dir, "cache")
	}
	play(s)
	s.calm()
}

// newStory makes a world in which web and worker have 1.0.0 everywhere.
func newStory(t testing.TB, kind, config string) *story {
	t.Helper()
	s := &story{world: newWorld(t, nil), clock: &clock{}, digests: map[string]string{}, times: map[string]time.Time{}}
	s.clock.set(workday())
	s.forge = githubtest.New(t, githubtest.Options{Now: s.clock.Now})
	s.release("web", "1.0.0")
	s.release("worker", "1.0.0")
	files := s.tree(config, "web:1.0.0", "worker:1.0.0")
	s.clock.set(workday().AddDate(0, -3, 0)) // its last commit is old
	s.repo = s.forge.NewRepository("acme/gitops", files)
	s.clock.set(workday())
	for _, who := range []string{"promoter-bot", "ada", "bob"} {
		s.repo.Settings.Permit(who, "write")
	}
	s.kind, s.server = kind, s.open(kind)
	return s
}

// open opens the server file of the repository.
func (s *story) open(kind string) *connect.Connections {
	s.t.Helper()
	right, repository := `token: "env:TOKEN"`, "acme/gitops"
	if kind == "git" {
		right, repository = `username: promoter-bot, password: "env:TOKEN"`, "acme/gitops.git"
	}
	s.token = s.forge.Token("promoter-bot", "repo", "read:org")
	file := s.serverFile("server.yaml", fmt.Sprintf(`forge: {kind: %s, url: "%s", insecure: true, %s}`, kind, s.forge.URL(), right),
		"repositories: [{forge: forge, name: "+repository+"}]")
	return connected(s.t, file, environ("TOKEN", s.token), s.clock.Now)
}

// edit replaces text in a file of a branch, as a push of a user.
func (s *story) edit(who, branch, path, from, to string) string {
	s.t.Helper()
	at := branch
	if s.repo.Git.Head(branch) == "" {
		at = "main"
	}
	before := s.repo.Git.Run("show", at+":"+path) + "\n"
	if !strings.Contains(before, from) {
		s.t.Fatalf("%s of %s does not hold %q:\n%s", path, branch, from, before)
	}
	return s.repo.Git.Commit(who, branch, "By hand", map[string]string{path: strings.ReplaceAll(before, from, to)})
}

// pass is one run, with any result.
func (s *story) pass() app.Result {
	s.t.Helper()
	return s.passUnder(s.t.Context())
}

func (s *story) passUnder(ctx context.Context) app.Result {
	s.t.Helper()
	results, err := app.Run(ctx, s.server, app.RunOptions{CacheDir: s.cache})
	if ctx.Err() != nil {
		return app.Result{Err: err}
	}
	if err != nil || len(results) != 1 {
		s.t.Fatalf("%d results, %v", len(results), err)
	}
	return results[0]
}

// run is one run that must not fail.
func (s *story) run() outcome.Report {
	s.t.Helper()
	result := s.pass()
	if result.Failed() {
		s.t.Fatalf("the run failed: %v, %+v, %q, %v", result.Err, result.Report.Errors, result.Report.Unusable, failures(result.Report))
	}
	return result.Report
}

// releaseAndRun is a run with a new image.
func (s *story) releaseAndRun(component, tag string) outcome.Report {
	s.t.Helper()
	s.release(component, tag)
	return s.run()
}

// calm runs again, and checks that nothing is written, neither to Git nor to the forge.
func (s *story) calm() {
	s.t.Helper()
	before := s.written()
	result := s.pass()
	if after := s.written(); before != after {
		s.t.Errorf("the second run wrote (%v, %v):\n%s\nafter\n%s", result.Err, acts(result), after, before)
	}
}

// wait lets time pass.
func (s *story) wait(d time.Duration) { s.clock.ahead.Add(int64(d)) }

// decide is a user who runs the command of a verb.
func (s *story) decide(d decision.Decision) {
	s.t.Helper()
	if _, err := decision.Record(s.t.Context(), s.server, d, s.cache); err != nil {
		s.t.Fatal(err)
	}
}

// decideAs is a user who runs the command of a verb, authenticated by a token.
func (s *story) decideAs(who string, d decision.Decision) {
	s.t.Helper()
	if _, err := s.recordAs(who, d); err != nil {
		s.t.Fatal(err)
	}
}

// recordAs records a decision of a user; empty: without a token.
func (s *story) recordAs(who string, d decision.Decision) (decision.Result, error) {
	s.t.Helper()
	env := s.server.Server.Env
	defer func() { s.server.Server.Env = env }()
	token := ""
	if who != "" {
		token = s.forge.Token(who, "repo", "read:org")
	}
	s.server.Server.Env = func(name string) (string, bool) {
		if name == "PROMOTER_USER_TOKEN" {
			return token, true
		}
		return env(name)
	}
	return decision.Record(s.t.Context(), s.server, d, s.cache)
}

// api is a user who calls the API of GitHub.
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
	_ = response.Body.Close() // it is not read
	if response.StatusCode >= http.StatusBadRequest {
		s.t.Fatalf("%s %s: %s", method, path, response.Status)
	}
}

// changes reports whether a request may change anything.
func changes(route string) bool {
	return !strings.HasPrefix(route, "GET ") && route != "POST /graphql" && route != "GIT info/refs" && route != "GIT upload-pack"
}

// onlyReads checks that no request changes anything.
func onlyReads(t testing.TB, requests map[string]int) {
	t.Helper()
	for route, n := range requests {
		if changes(route) {
			t.Errorf("%d times %s", n, route)
		}
	}
}

// before calls a function once, just before a request.
func (s *story) before(route string, do func()) {
	var done atomic.Bool
	s.forge.Traffic.Watch(func(asked string) {
		if strings.Contains(asked, route) && done.CompareAndSwap(false, true) {
			do()
		}
	})
}

// another is a process on another machine, whose clock is ahead.
func (s *story) another(ahead time.Duration) *story {
	other := *s
	other.clock, other.cache = &clock{}, ""
	other.clock.set(s.clock.Now().Add(ahead))
	other.server = other.open(s.kind)
	return &other
}
