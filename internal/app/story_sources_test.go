package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// sourceForge is a forge with a GitOps repository and a source repository.
type sourceForge struct {
	kind, url, token string
	commit           func(message string) string // to the source
	settings         forgetest.Settings          // of the source
	push             func(files map[string]string)
	body             func() string
	edits            func() int
}

func sourceForges(t *testing.T, s *story, files map[string]string) map[string]func() sourceForge {
	t.Helper()
	readme := map[string]string{"README": "web"}
	changed := func(message string) map[string]string { return map[string]string{"README": message} }
	edits := func(requests func() map[string]int) func() int {
		return func() (n int) {
			for route, count := range requests() {
				if changes(route) {
					n += count
				}
			}
			return n
		}
	}
	return map[string]func() sourceForge{
		"github": func() sourceForge {
			f := githubtest.New(t, githubtest.Options{Now: s.clock.Now})
			r, source := f.NewRepository("acme/gitops", files), f.NewRepository("acme/web", readme)
			r.Settings.Permit("promoter-bot", "write")
			source.Settings.Permit("promoter-bot", "read")
			return sourceForge{
				"github", f.URL(), f.Token("promoter-bot", "repo"), func(m string) string { return source.Git.Commit("ann", "main", m, changed(m)) },
				source.Settings, func(files map[string]string) { r.Git.Commit("ada", "main", "Configure", files) },
				func() string { return r.Pulls.Get(1).Body }, edits(f.Traffic.Requests),
			}
		},
		"gitea": func() sourceForge {
			f := giteatest.New(t, giteatest.Options{Now: s.clock.Now})
			r, source := f.NewRepository("acme/gitops", files), f.NewRepository("acme/web", readme)
			r.Settings.Permit("promoter-bot", "write")
			source.Settings.Permit("promoter-bot", "read")
			return sourceForge{
				"gitea", f.URL(), f.Token("promoter-bot", giteatest.Scopes()...), func(m string) string { return source.Git.Commit("ann", "main", m, changed(m)) },
				source.Settings, func(files map[string]string) { r.Git.Commit("ada", "main", "Configure", files) },
				func() string { return r.Pulls.Get(1).Body }, edits(f.Traffic.Requests),
			}
		},
		"gitlab": func() sourceForge {
			f := gitlabtest.New(t, gitlabtest.Options{Now: s.clock.Now, Free: true})
			p, source := f.NewProject("acme/gitops", files), f.NewProject("acme/web", readme)
			p.Settings.Permit("promoter-bot", gitlabtest.Maintainer)
			source.Settings.Permit("promoter-bot", gitlabtest.Developer)
			return sourceForge{
				"gitlab", f.URL(), f.Token("promoter-bot", "api"), func(m string) string { return source.Git.Commit("ann", "main", m, changed(m)) },
				source.Settings, func(files map[string]string) { p.Git.Commit("ada", "main", "Configure", files) },
				func() string { return p.Request(1).Body }, edits(f.Traffic.Requests),
			}
		},
	}
}

// The labels of an image name a private repository. Its commits are shown only after the
// config names it too and the server file lets this repository see it, or after it became
// public.
func TestRun_privateSourceIsNotShown(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"github", "gitea", "gitlab"} {
		for _, way := range []string{"rule", "public"} {
			t.Run(kind+" "+way, func(t *testing.T) {
				t.Parallel()
				if kind != "github" {
					app.AnotherForge(t)
				}
				s := newStory(t, "git", chain) // for its registry and its clock
				f := sourceForges(t, s, s.tree(chain, "web:1.0.0", "worker:1.0.0"))[kind]()
				host := strings.TrimPrefix(f.url, "http://")
				from, to := f.commit("Begin"), f.commit("Buy the competitor (#12)")
				f.settings.AddRelease("ann", "v1.1.0", s.clock.Now().Add(-time.Hour), false, false)
				f.settings.SetReleaseNotes("v1.1.0", "## Secret plans")
				labels := func(revision string) map[string]string {
					return map[string]string{"org.opencontainers.image.revision": revision, "org.opencontainers.image.source": f.url + "/acme/web.git"}
				}
				s.labeled("web", "1.0.1", s.clock.Now().Add(-time.Hour), labels(from))
				f.push(s.tree(chain, "web:1.0.1", "worker:1.0.0"))
				s.labeled("web", "1.1.0", s.clock.Now().Add(-time.Minute), labels(to))

				s.cache = filepath.Join(s.dir, "cache")
				serve := func(rules string) {
					file := s.serverFile("sources.yaml", fmt.Sprintf(`forge: {kind: %s, url: "%s", insecure: true, token: "env:TOKEN"}`, f.kind, f.url),
						"repositories: [{forge: forge, name: acme/gitops}]\n"+rules)
					s.server = connected(t, file, environ("TOKEN", f.token), s.clock.Now)
				}
				contains := func(all bool, words ...string) {
					t.Helper()
					for _, word := range words {
						if strings.Contains(f.body(), word) != all {
							t.Errorf("the body contains %q: %t\n%s", word, !all, f.body())
						}
					}
				}
				secret := []string{"competitor", "Secret plans", "by `ann`"}
				const setUp = "let this repository see it with an entry of sources in the server file"
				compare := map[bool]string{false: "/acme/web/compare/", true: "/acme/web/-/compare/"}[kind == "gitlab"]

				serve("")
				s.run()
				contains(false, secret...)
				contains(true, setUp, "set source: "+host+"/acme/web for the component", f.url+compare+from+"..."+to, "| 2026-11-18 |", "Already in `dev` since 2026-11-18")

				if way == "public" {
					f.settings.SetPrivate(false)
					s.wait(2 * time.Hour) // what is not public is not asked for each time
				} else {
					// The image alone decides nothing, whatever the server file allows.
					rules := "sources:\n  - {repositories: [\"" + host + "/acme/*\"], usableBy: [\"" + host + "/acme/gitops\"]}\n"
					serve(rules)
					s.run()
					contains(false, secret...)
					named := strings.Replace(chain, "acme/web, ", "acme/web, source: \""+host+"/acme/web\", ", 1)
					f.push(map[string]string{".promoter.yaml": s.expand(named)})
					serve("")
					s.run()
					contains(false, secret...)
					serve(rules)
				}
				s.run()
				contains(true, secret...)
				contains(true, f.url+compare+from+"..."+to)
				if kind != "gitlab" { // which has another form
					contains(true, "[pull request 12]("+f.url+"/acme/web/pull")
				}
				before := f.edits()
				s.run()
				if after := f.edits(); after != before {
					t.Errorf("another run wrote %d times", after-before)
				}
			})
		}
	}
}

// Doctor reads the sources that a config names, as they are read for pull requests.
func TestDoctor_sources(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", chain)
	source := s.forge.NewRepository("acme/web", map[string]string{"README": "web"})
	source.Settings.Permit("promoter-bot", "read")
	named := strings.Replace(chain, "acme/web, ", "acme/web, source: \""+s.forge.Host()+"/acme/web\", ", 1)
	s.repo.Git.Commit("ada", "main", "Name the source", map[string]string{".promoter.yaml": s.expand(named)})
	const warning = "the source of component web cannot be read"
	for rules, warned := range map[string]bool{
		"": true,
		"sources: [{repositories: [\"" + s.forge.Host() + "/acme/web\"], usableBy: [\"" + s.forge.Host() + "/acme/gitops\"]}]": false,
	} {
		file := s.serverFile("doctor.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
			"repositories: [{forge: forge, name: acme/gitops}]\n"+rules)
		if found := checked(t, file, environ("TOKEN", s.token), s.clock.Now); strings.Contains(found, warning) != warned {
			t.Errorf("rules %q:\n%s", rules, found)
		}
	}
}
