package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/gitea/giteatest"
)

// giteaStory is a story whose repository is on Gitea.
type giteaStory struct {
	*story
	forge *giteatest.Server
	repo  *giteatest.Repository
}

func newGiteaStory(t *testing.T, config string) *giteaStory {
	t.Helper()
	s := &giteaStory{story: &story{world: newWorld(t, nil), clock: &clock{}, digests: map[string]string{}, times: map[string]time.Time{}}}
	s.clock.set(workday())
	s.forge = giteatest.New(t, giteatest.Options{Now: s.clock.Now})
	s.release("web", "1.0.0")
	s.release("worker", "1.0.0")
	files := s.tree(config, "web:1.0.0", "worker:1.0.0")
	s.clock.set(workday().AddDate(0, -3, 0)) // its last commit is old
	s.repo = s.forge.NewRepository("acme/gitops", files)
	s.clock.set(workday())
	for _, who := range []string{"promoter-bot", "ada", "bob"} {
		s.repo.Settings.Permit(who, "write")
	}
	s.cache = filepath.Join(s.dir, "cache")
	s.connect("")
	return s
}

// connect reads a server file for the repository, with more lines.
func (s *giteaStory) connect(more string) {
	s.t.Helper()
	file := s.serverFile("server.yaml", fmt.Sprintf(`forge: {kind: gitea, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		"repositories: [{forge: forge, name: acme/gitops}]\n"+more)
	s.server = connected(s.t, file, environ("TOKEN", s.forge.Token("promoter-bot", giteatest.Scopes()...)), s.clock.Now)
}

// writes counts the requests that changed anything.
func (s *giteaStory) writes() (n int) {
	for route, count := range s.forge.Traffic.Requests() {
		if changes(route) {
			n += count
		}
	}
	return n
}

// says checks that the file of an environment contains an image on main.
func (s *giteaStory) says(environment, version string) {
	s.t.Helper()
	if content := s.repo.Git.Run("show", "main:"+environment+"/shop.yaml"); !strings.Contains(content, s.line(version)) {
		s.t.Errorf("%s holds\n%s, want %s", environment, content, version)
	}
}

// TestRun_theStoryWithPullRequests_gitea plays the story of reviewed: dev lands by
// push, a user merges into staging, and prod merges automatically with a green check
// and an approval. Gitea checks for conflicts late, so the first merge is deferred.
func TestRun_theStoryWithPullRequests_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, reviewed)
	s.repo.LookLate(1)
	event := func(name string, want ...outcome.Action) outcome.Report {
		t.Helper()
		report := s.run()
		if got := actsOf(report); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: did %v, want %v", name, got, want)
		}
		return report
	}

	event("nothing new")
	s.release("web", "1.1.0")
	event("a new image: dev is pushed, staging is proposed", outcome.ActionPushed, outcome.ActionOpened)
	s.says("dev", "web:1.1.0")
	s.repo.Pulls.Merge("ada", 1, "squash")
	event("a user merged: prod is proposed", outcome.ActionOpened)
	s.says("staging", "web:1.1.0")
	head := s.repo.Pulls.Get(2).HeadCommit
	s.repo.Settings.SetStatus("ci", head, "e2e", "success")
	s.repo.Pulls.Approve("bob", 2)
	s.because(event("all gates are open, and Gitea is still looking", outcome.ActionUpdated), "prod", "try again later")
	event("Gitea has looked: prod is merged", outcome.ActionMerged)
	s.says("prod", "web:1.1.0")
	if pull := s.repo.Pulls.Get(2); !pull.Merged || pull.Closer != "promoter-bot" || pull.HeadCommit != head {
		t.Errorf("the pull request of prod: %+v", pull)
	}
	event("nothing new since then")
	before := s.writes()
	event("nothing new still")
	if after := s.writes(); after != before {
		t.Errorf("the second run wrote %d times", after-before)
	}
}

// An approval that Gitea does not count for the rule of the branch counts for the config alone: no merge is tried.
func TestRun_unofficialApproval_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, reviewed)
	s.repo.Protect("main", giteatest.Protection{Approvals: 1})
	s.release("web", "1.1.0")
	s.run()
	s.repo.Pulls.Merge("ada", 1, "squash")
	s.run()
	s.repo.Settings.SetStatus("ci", s.repo.Pulls.Get(2).HeadCommit, "e2e", "success")
	s.repo.Pulls.Approve("bob", 2)
	s.repo.Unofficial("bob", 2)
	gates := decisionIn(s.run(), "prod").Gates
	if !slices.ContainsFunc(gates, func(c promotion.Condition) bool {
		return c.Name == "protection approvals" && c.State == promotion.Pending
	}) {
		t.Errorf("it does not wait for the rule of the branch: %+v", gates)
	}
	merge := "POST /repos/{owner}/{repo}/pulls/{index}/merge"
	if n := s.forge.Traffic.Requests()[merge]; n > 0 || s.repo.Pulls.Get(2).Merged {
		t.Errorf("a merge was tried %d times", n)
	}
	s.repo.Pulls.Approve("ada", 2)
	for range 2 { // Gitea may still be looking
		s.run()
	}
	s.says("prod", "web:1.1.0")
}

// TestRun_renamed_gitea continues with the old name, which Gitea redirects.
func TestRun_renamed_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, reviewed)
	s.repo.Settings.Rename("deployments")
	s.release("web", "1.1.0")
	if got := actsOf(s.run()); fmt.Sprint(got) != fmt.Sprint([]outcome.Action{outcome.ActionPushed, outcome.ActionOpened}) {
		t.Errorf("did %v", got)
	}
	s.says("dev", "web:1.1.0")
}

// Gitea does not show to the account which users may push: no command in a comment can
// work. The pull request lists none, doctor reports it, and so does the reply.
func TestRun_commandsWithoutTheirRights_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, reviewed)
	s.forge.SetTeam("acme/readers", "rea")
	s.repo.PermitTeam("acme/readers", "read")
	s.release("web", "1.1.0")
	s.run()
	if body := s.repo.Pulls.Get(1).Body; strings.Contains(body, "/promoter") || !strings.Contains(body, "promoter hold") {
		t.Errorf("the body lists commands that cannot work:\n%s", body)
	}
	token := s.forge.Token("promoter-bot", giteatest.Scopes()...)
	file := s.serverFile("doctor.yaml", fmt.Sprintf(`forge: {kind: gitea, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf("data: %q\nrepositories: [{forge: forge, name: acme/gitops}]", filepath.Join(s.dir, "data")))
	const finding = "warn repository acme/gitops: commands in comments are refused for all users that permissions does not name: Gitea shows only to administrators"
	if found := checked(t, file, environ("TOKEN", token), s.clock.Now); !strings.Contains(found, finding) {
		t.Errorf("doctor does not report it:\n%s", found)
	}
	s.repo.Pulls.Comment("ada", 1, "/promoter hold")
	s.pass()
	comments := s.repo.Pulls.Get(1).Comments
	if reply := comments[len(comments)-1].Body; !strings.Contains(reply, "may not read your permissions: 'promoter doctor'") {
		t.Errorf("the reply: %s", reply)
	}

	s.repo.Settings.Permit("promoter-bot", "admin")
	s.clock.set(s.clock.Now().Add(2 * time.Hour))
	s.run()
	if body := s.repo.Pulls.Get(1).Body; !strings.Contains(body, "`/promoter hold`") {
		t.Errorf("an administrator's pull request lists no commands:\n%s", body)
	}
	if found := checked(t, file, environ("TOKEN", token), s.clock.Now); strings.Contains(found, "commands in comments") {
		t.Errorf("doctor of an administrator:\n%s", found)
	}
}

// A user deletes the branch of a pull request, which closes it, and reopens it, which
// does not restore the branch: promoter pushes it again.
func TestRun_reopenedWithoutItsBranch_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, reviewed)
	s.release("web", "1.1.0")
	s.run()
	pull := s.repo.Pulls.Get(1)
	s.repo.Label("ada", 1, "mine")
	s.repo.Git.DeleteBranch("ada", pull.Head)
	s.repo.Reopen("ada", 1)
	if err := os.RemoveAll(s.cache); err != nil { // the commit is in no clone any more
		t.Fatal(err)
	}
	s.run()
	if all := s.repo.Pulls.All(); len(all) != 1 || !all[0].Open || s.repo.Git.Head(pull.Head) == "" || all[0].HeadCommit != s.repo.Git.Head(pull.Head) {
		t.Errorf("its branch is at %q, and there are %+v", s.repo.Git.Head(pull.Head), all)
	}
	before := s.writes()
	if s.run(); s.writes() != before {
		t.Errorf("the next run wrote %d times", s.writes()-before)
	}
}
