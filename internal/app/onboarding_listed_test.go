package app_test

import (
	"fmt"
	"testing"
	"time"

	"promoter/internal/onboarding"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// listedForge is a forge with one repository without a config file.
type listedForge struct {
	kind, url, token      string
	requests              func() map[string]int
	reset                 func()
	open                  func() []string // the heads of the open pull requests
	decline, deleteBranch func()
	git                   func(args ...string) string
}

func listedForges(t *testing.T, s *story) map[string]func() listedForge {
	t.Helper()
	files := map[string]string{"dev/shop.yaml": s.manifest("web:1.0.0"), "prod/shop.yaml": s.manifest("web:1.0.0")}
	return map[string]func() listedForge{
		"github": func() listedForge {
			f := githubtest.New(t, githubtest.Options{Now: s.clock.Now})
			r := f.NewRepository("acme/gitops", files)
			r.Settings.Permit("promoter-bot", "write")
			return listedForge{
				"github", f.URL(), f.Token("promoter-bot", "repo"), f.Traffic.Requests, f.Traffic.ResetRequests,
				func() []string { return openHeads(r.Pulls.All()) },
				func() { r.Pulls.Close("ada", 1) }, func() { r.Git.DeleteBranch("ada", onboardingHead) }, r.Git.Run,
			}
		},
		"gitea": func() listedForge {
			f := giteatest.New(t, giteatest.Options{Now: s.clock.Now})
			r := f.NewRepository("acme/gitops", files)
			r.Settings.Permit("promoter-bot", "write")
			return listedForge{
				"gitea", f.URL(), f.Token("promoter-bot", giteatest.Scopes()...), f.Traffic.Requests, f.Traffic.ResetRequests,
				func() []string { return openHeads(r.Pulls.All()) },
				func() { r.Pulls.Close("ada", 1) }, func() { r.Git.DeleteBranch("ada", onboardingHead) }, r.Git.Run,
			}
		},
		"gitlab": func() listedForge {
			f := gitlabtest.New(t, gitlabtest.Options{Now: s.clock.Now, Free: true})
			p := f.NewProject("acme/gitops", files)
			p.Settings.Permit("promoter-bot", gitlabtest.Maintainer)
			return listedForge{
				"gitlab", f.URL(), f.Token("promoter-bot", "api"), f.Traffic.Requests, f.Traffic.ResetRequests,
				func() (heads []string) {
					for _, one := range p.Requests() {
						if one.State == "opened" {
							heads = append(heads, one.Head)
						}
					}
					return heads
				},
				func() { p.Pulls.Close("ada", 1) }, func() { p.Git.DeleteBranch("ada", onboardingHead) }, p.Git.Run,
			}
		},
	}
}

// openHeads are the branches of the open pull requests.
func openHeads(pulls []forgetest.PullState) (heads []string) {
	for _, pull := range pulls {
		if pull.Open {
			heads = append(heads, pull.Head)
		}
	}
	return heads
}

// serverOf opens a server file that lists the repository of the forge, and enables
// onboarding.
func (s *story) serverOf(f listedForge) {
	s.t.Helper()
	file := s.serverFile("listed.yaml", fmt.Sprintf(`forge: {kind: %s, url: "%s", insecure: true, token: "env:TOKEN"}`, f.kind, f.url),
		"repositories: [{forge: forge, name: acme/gitops}]\n"+onboards)
	s.server = connected(s.t, file, environ("TOKEN", f.token), s.clock.Now)
}

// A repository that the server file lists is offered a config too, on every forge:
// once, whatever promoter loses, and never again after it was declined.
func TestRun_onboarding_listed(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"github", "gitea", "gitlab"} {
		for _, decline := range []string{"closed", "branch deleted"} {
			t.Run(kind+" "+decline, func(t *testing.T) {
				t.Parallel()
				s := newStory(t, "git", pushed()) // for its registry and its clock
				f := listedForges(t, s)[kind]()
				s.serverOf(f)
				s.cache = t.TempDir()
				came := func(want onboarding.State, failed bool) {
					t.Helper()
					result := s.pass()
					if result.Onboarding == nil || result.Onboarding.State != want || result.Failed() != failed {
						t.Errorf("came %+v, failed %v (%v), want %s", result.Onboarding, result.Failed(), result.Err, want)
					}
				}
				idle := func(want onboarding.State, failed bool) {
					t.Helper()
					f.reset()
					came(want, failed)
					onlyReads(t, f.requests())
				}
				came(onboarding.Opened, false)
				if open := f.open(); len(open) != 1 || open[0] != onboardingHead {
					t.Fatalf("open are %v", open)
				}
				if files := f.git("diff", "--name-only", "main", onboardingHead); files != ".promoter.yaml" {
					t.Errorf("it changes %s", files)
				}
				idle(onboarding.Open, false)
				s.cache = t.TempDir()
				idle(onboarding.Open, false)
				if decline == "closed" {
					f.decline()
				} else {
					f.deleteBranch()
				}
				s.cache = t.TempDir()
				s.wait(time.Hour)
				idle(onboarding.Declined, true)
				idle(onboarding.Declined, true)
			})
		}
	}
}
