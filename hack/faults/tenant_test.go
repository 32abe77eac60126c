package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"promoter/hack/process"
	"promoter/internal/registry/registrytest"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// tenant is a repository with its own forge and registry, so that a fault of one tenant is
// that of no other.
type tenant struct {
	fault    fault
	forge    fake
	registry *registrytest.Server
	failing  atomic.Bool
	failed   atomic.Int64 // requests, since the fault began
	released int          // versions
	posted   int          // webhooks
	held     bool         // a user put staging on hold
	comments []int64      // with decisions
}

// fake is a forge with the repository of a tenant.
type fake struct {
	url, host, token string
	traffic          forgetest.Traffic
	git              forgetest.Branches
	pulls            forgetest.Pulls
	settings         forgetest.Settings
}

// newFake starts a forge of some kind.
func newFake(t testing.TB, kind string, files map[string]string) fake {
	t.Helper()
	switch kind {
	case "gitlab":
		s := gitlabtest.New(t, gitlabtest.Options{})
		p := s.NewProject(repository, files)
		return fake{s.URL(), s.Host(), s.Token(bot, "api", "write_repository"), s.Traffic, p.Git, p.Pulls, p.Settings}
	case "gitea":
		s := giteatest.New(t, giteatest.Options{})
		r := s.NewRepository(repository, files)
		return fake{s.URL(), s.Host(), s.Token(bot, giteatest.Scopes()...), s.Traffic, r.Git, r.Pulls, r.Settings}
	default:
		s := githubtest.New(t, githubtest.Options{})
		r := s.NewRepository(repository, files)
		return fake{s.URL(), s.Host(), s.Token(bot, "repo", "read:org"), s.Traffic, r.Git, r.Pulls, r.Settings}
	}
}

// config promotes to dev by pushes, proposes to staging, and lands in prod by automerge.
const config = `version: 1
components:
  web: {image: %s/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  staging: {paths: ["staging/{application}.yaml"], after: [dev]}
  prod: {paths: ["prod/{application}.yaml"], after: [dev], land: automerge}
`

// repository is its name, and bot the account of promoter.
const repository, bot = "acme/gitops", "promoter-bot"

func newTenant(t testing.TB, f fault) *tenant {
	t.Helper()
	w := &tenant{fault: f, registry: registrytest.New(t)}
	w.registry.Push(t, "acme/web:1.0.0", "0")
	manifest := fmt.Sprintf("kind: Pod\nspec: {containers: [{image: \"%s/acme/web:1.0.0\"}]}\n", w.registry.Host)
	w.forge = newFake(t, f.on, map[string]string{
		".promoter.yaml": fmt.Sprintf(config, w.registry.Host), "dev/shop.yaml": manifest, "staging/shop.yaml": manifest, "prod/shop.yaml": manifest,
	})
	w.forge.settings.Permit(bot, "admin")
	between := func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if w.failing.Load() && f.peer.receives(r) && (f.hits == nil || f.hits(r)) {
				body, err := io.ReadAll(r.Body) // otherwise the server does not notice that the client is gone
				if err != nil {
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				w.failed.Add(1)
				f.fail(out, r, server)
				return
			}
			server.ServeHTTP(out, r)
		})
	}
	switch f.peer {
	case "":
	case registry:
		w.registry.Wrap(between)
	default:
		w.forge.traffic.Wrap(between)
	}
	return w
}

// name is how the status names its repository.
func (w *tenant) name() string { return w.forge.host + "/" + repository }

// version is the newest one.
func (w *tenant) version() string { return fmt.Sprintf("1.%d.0", w.released) }

// release pushes a version of the image, without a webhook.
func (w *tenant) release(t testing.TB) {
	t.Helper()
	w.released++
	w.registry.Push(t, "acme/web:"+w.version(), w.version())
}

// notify sends a webhook about the newest version, which must be accepted.
func (w *tenant) notify(t testing.TB, p *process.Process) {
	t.Helper()
	if code := w.post(t, p); code != http.StatusAccepted {
		t.Errorf("a webhook about the image of %s: %d", w.fault.name, code)
	}
}

func (w *tenant) post(t testing.TB, p *process.Process) int {
	t.Helper()
	w.posted++
	return p.Webhook(t, "images", fmt.Sprintf("%s-%d", w.name(), w.posted), w.registry.Host+"/acme/web:"+w.version(), true)
}

// lag returns what is not done yet; empty: nothing.
func (w *tenant) lag() string {
	for _, environment := range landing() {
		if !w.has("main", environment) {
			return environment + " is not at " + w.version()
		}
	}
	if onHold := w.onHold(); onHold != w.held {
		return fmt.Sprintf("staging is on hold: %t, but the last decision: %t", onHold, w.held)
	}
	if w.held {
		return ""
	}
	if w.forge.git.Head(stagingHead) == "" || !w.has(stagingHead, "staging") {
		return "no branch has " + w.version() + " for staging"
	}
	for _, pull := range w.forge.pulls.All() {
		if pull.Open && strings.Contains(pull.Title, w.version()) {
			return ""
		}
	}
	return "no open pull request has " + w.version() + " for staging"
}

// has reports whether a branch has the newest version in an environment.
func (w *tenant) has(branch, environment string) bool {
	return strings.Contains(w.forge.git.Run("show", branch+":"+environment+"/shop.yaml"), fmt.Sprintf("%s/acme/web:%s", w.registry.Host, w.version()))
}

// onHold reports whether a hold of staging is recorded.
func (w *tenant) onHold() bool {
	if w.forge.git.Head("promoter/_state") == "" {
		return false
	}
	file := "staging/shop.json"
	return w.forge.git.Run("ls-tree", "promoter/_state", file) != "" && strings.Contains(w.forge.git.Run("show", "promoter/_state:"+file), `"hold"`)
}

// landing are the environments in which a version lands without a user.
func landing() []string { return []string{"dev", "prod"} }

const stagingHead = "promoter/staging/shop"

// sound checks that nothing was done twice: at most one commit for each release and environment, one merged pull request for
// each release, and one open pull request for each environment.
func (w *tenant) sound(t testing.TB) {
	t.Helper()
	for _, environment := range landing() {
		log := w.forge.git.Run("log", "--first-parent", "-m", "--format=%H", "main", "--", environment)
		if commits := len(strings.Fields(log)) - 1; commits > w.released { // without the first one
			t.Errorf("%s: %d commits to %s of %d releases", w.fault.name, commits, environment, w.released)
		}
	}
	open, merged := map[string]int{}, map[string]int{}
	for _, pull := range w.forge.pulls.All() {
		if pull.Open {
			open[pull.Head]++
		}
		if pull.Merged {
			merged[pull.Title]++
		}
	}
	for _, count := range []map[string]int{open, merged} {
		for what, n := range count {
			if n > 1 {
				t.Errorf("%s: %d pull requests of %s", w.fault.name, n, what)
			}
		}
	}
}

// serverFile is that of a service for some tenants.
func serverFile(data, database string, tenants []*tenant) string {
	var forges, repositories, registries strings.Builder
	for i, w := range tenants {
		fmt.Fprintf(&forges, "  f%d: {kind: %s, url: %q, insecure: true, token: \"env:TOKEN%d\"}\n", i, w.fault.on, w.forge.url, i)
		fmt.Fprintf(&repositories, "  - {forge: f%d, name: %s}\n", i, repository)
		fmt.Fprintf(&registries, "  - {host: %q, insecure: true}\n", w.registry.Host)
	}
	return fmt.Sprintf(`data: %q
poll: 1h
%s
api: {token: "env:API"}
networks: [127.0.0.0/8]
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
forges:
%srepositories:
%sregistries:
%s`, data, database, &forges, &repositories, &registries)
}

// tokens is the environment of that service.
func tokens(tenants []*tenant) (environment []string) {
	for i, w := range tenants {
		environment = append(environment, fmt.Sprintf("TOKEN%d=%s", i, w.forge.token))
	}
	return environment
}
