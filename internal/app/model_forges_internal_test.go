package app

import (
	"testing"

	"promoter/internal/git/gittest"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/serverfile"
)

func TestModel_randomStories_github(t *testing.T) {
	t.Parallel()
	playOn(t, func(t *testing.T, start modelStart) served {
		t.Helper()
		s := githubtest.New(t, githubtest.Options{Now: start.clock.Now})
		r := s.NewRepository("acme/deploy", start.files)
		token := s.Token(githubtest.Self, "repo", "read:org")
		r.Settings.Permit(githubtest.Self, "write")
		if start.perhaps(2) {
			r.Settings.DeleteMergedBranches()
		}
		return served{
			options: serverFile(t, "github", s.URL(), "acme/deploy", token), token: token, dir: r.Git.Dir(),
			bench: r.Bench,
		}
	})
}

func TestModel_randomStories_gitlab(t *testing.T) {
	t.Parallel()
	AnotherForge(t)
	playOn(t, func(t *testing.T, start modelStart) served {
		t.Helper()
		s := gitlabtest.New(t, gitlabtest.Options{
			Now: start.clock.Now, Root: []string{"", "/gitlab"}[start.random.IntN(2)],
			Free: start.perhaps(3), Old: start.perhaps(3),
		})
		p := s.NewProject("acme/platform/deploy", start.files)
		p.Settings.Permit(gitlabtest.Self, gitlabtest.Developer)
		p.Set(func(s *gitlabtest.Settings) {
			s.AutoRebase, s.ResetApprovals, s.CommittersApart = start.perhaps(2), start.perhaps(3), start.perhaps(3)
		})
		p.Late(start.random.IntN(4))
		token := s.Token(gitlabtest.Self, "api", "write_repository")
		return served{
			options: serverFile(t, "gitlab", s.URL(), p.Settings.Name(), token), token: token, dir: p.Git.Dir(), bench: p.Bench,
		}
	})
}

func TestModel_randomStories_gitea(t *testing.T) {
	t.Parallel()
	AnotherForge(t)
	playOn(t, func(t *testing.T, start modelStart) served {
		t.Helper()
		s := giteatest.New(t, giteatest.Options{Now: start.clock.Now, MaxItems: 1 + start.random.IntN(50)})
		r := s.NewRepository("acme/deploy", start.files)
		token := s.Token("promoter-bot", giteatest.Scopes()...)
		r.Settings.Permit("promoter-bot", "admin")
		r.LookLate(start.random.IntN(4))
		if start.perhaps(2) {
			r.Settings.DeleteMergedBranches()
		}
		return served{
			options: serverFile(t, "gitea", s.URL(), "acme/deploy", token), token: token, dir: r.Git.Dir(), bench: r.Bench,
		}
	})
}

// A repository on this machine, of which only Git is known.
func TestModel_randomStories_plain(t *testing.T) {
	t.Parallel()
	AnotherForge(t)
	playOn(t, func(t *testing.T, start modelStart) served {
		t.Helper()
		r := gittest.New(t).Init("deploy", gittest.Setup{})
		r.Add("main", "Begin", modelAuthor(scmtest.Ann, start.clock), start.files)
		address := "file://" + r.Dir()
		return served{
			options: serverfile.Options{Repositories: []string{address}, Env: noEnv}, dir: r.Dir(),
			bench: func(forge scm.Forge) scmtest.Bench {
				return scmtest.Bench{Forge: forge, Name: address, Git: scmtest.Git{
					Commit: func(_ *testing.T, c scmtest.Commit) string {
						return r.Add(c.Branch, c.Message, modelAuthor(c.By, start.clock), map[string]string{c.Path: c.Content})
					},
					Delete: func(_ *testing.T, _, branch string) { r.Delete(branch) },
				}}
			},
		}
	})
}
