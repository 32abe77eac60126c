package app_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/decision"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/verb"
)

// turned is a story on another forge than GitHub, with the pull requests of the server.
type turned struct {
	*story
	pulls    forgetest.Pulls
	branches forgetest.Branches
	bot      string // an account that the forge shows to be one, or the server file lists
	file     string // of the server
	token    string
}

// serve gives the next runs a key of seals, as serve has one.
func (s *turned) serve() {
	s.t.Helper()
	env := environ("TOKEN", s.token, "PROMOTER_SEAL_KEY", hotfixKey)
	s.server = connected(s.t, filepath.Join(s.dir, s.file), env, s.clock.Now)
}

// onEveryForge plays a case on GitHub, GitLab, and Gitea.
func onEveryForge(t *testing.T, play func(s turned)) {
	t.Helper()
	t.Run("github", func(t *testing.T) {
		t.Parallel()
		s := newStory(t, "github", reviewed)
		s.cache = filepath.Join(s.dir, "cache")
		play(turned{s, s.repo.Pulls, s.repo.Git, "stale[bot]", "server.yaml", s.token})
	})
	t.Run("others", func(t *testing.T) {
		t.Parallel()
		onOthers(t, play)
	})
}

// onOthers plays a case on GitLab and on Gitea, which tell in other ways who closed and reopened what.
func onOthers(t *testing.T, play func(s turned)) {
	t.Helper()
	app.AnotherForge(t)
	t.Run("gitlab", func(t *testing.T) {
		t.Parallel()
		s, lab, project := newGitLabStory(t, "")
		const bot = "group_7_bot_stale"
		lab.AddBot(bot)
		play(turned{s, project.Pulls, project.Git, bot, "gitlab.yaml", lab.Token("promoter-bot", "api")})
	})
	t.Run("gitea", func(t *testing.T) {
		t.Parallel()
		s := newGiteaStory(t, reviewed)
		s.connect("bots: [stale]") // which Gitea does not show
		play(turned{s.story, s.repo.Pulls, s.repo.Git, "stale", "server.yaml", s.forge.Token("promoter-bot", giteatest.Scopes()...)})
	})
}

func TestRun_reopenedPullRequestStaysOpen_others(t *testing.T) {
	t.Parallel()
	onOthers(t, func(s turned) {
		s.release("web", "1.1.0")
		s.run()
		s.wait(time.Minute)
		s.pulls.Close("ada", 1)
		s.because(s.run(), "staging", "rejected", "ada")
		s.wait(time.Minute)
		s.pulls.Reopen("bob", 1)
		s.because(s.run(), "staging", "proposed")
		if one := s.pulls.Get(1); !one.Open {
			s.t.Errorf("it was closed again: %+v", one)
		}
		s.pulls.Merge("ada", 1, "merge")
		s.run()
		if all := s.pulls.All(); len(all) != 2 || all[1].Head != prodHead {
			s.t.Errorf("prod got no pull request: %+v", all)
		}
	})
}

// A user closes a pull request and deletes its branch between two runs, which is a close. A deletion alone is none.
func TestRun_closedWithDeletedBranchRejects_others(t *testing.T) {
	t.Parallel()
	onOthers(t, func(s turned) {
		s.release("web", "1.1.0")
		s.run()
		s.wait(time.Minute)
		s.branches.DeleteBranch("ada", stagingHead)
		s.run()
		if all := s.pulls.All(); len(all) != 2 || !all[1].Open {
			s.t.Fatalf("a deleted branch is not restored once: %+v", all)
		}
		s.wait(time.Minute)
		s.pulls.Close("ada", 2)
		s.wait(time.Minute)
		s.branches.DeleteBranch("ada", stagingHead)
		s.because(s.run(), "staging", "rejected", "ada", "2")
	})
}

// has checks that the file of an environment has an image on main.
func (s turned) has(environment, version string) {
	s.t.Helper()
	if content := s.branches.Run("show", "main:"+environment+"/shop.yaml"); !strings.Contains(content, s.line(version)) {
		s.t.Errorf("%s holds\n%s, want %s", environment, content, version)
	}
}

// open returns the last pull request from a branch, which is open.
func (s turned) open(head string) forgetest.PullState {
	s.t.Helper()
	all := s.pulls.All()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Head == head && all[i].Open {
			return all[i]
		}
	}
	s.t.Fatalf("no pull request from %s is open: %+v", head, all)
	return forgetest.PullState{}
}

// landed brings web 1.1.0 to staging.
func (s turned) landed() {
	s.t.Helper()
	s.release("web", "1.1.0")
	s.run()
	s.pulls.Merge("ada", s.open(stagingHead).Number, "merge")
	s.run()
	s.has("staging", "web:1.1.0")
}

// A bot cancels no rollback: its pull request is opened again once, then it waits for a user.
func TestRun_botClosesTheRollback(t *testing.T) {
	t.Parallel()
	onEveryForge(t, func(s turned) {
		s.landed()
		s.wait(time.Minute)
		s.decide(decision.Decision{Verb: verb.Rollback, Environment: "staging", Application: "shop", Reason: "slow"})
		s.run()
		first := s.open(stagingHead).Number
		s.wait(time.Minute)
		s.pulls.Close(s.bot, first)
		s.run()
		second := s.open(stagingHead).Number
		if second == first {
			s.t.Fatalf("#%d is still open", first)
		}
		s.wait(time.Minute)
		s.pulls.Close(s.bot, second)
		s.because(s.run(), "staging", "blocked", s.bot, "reopen")
		s.run()
		if n := len(s.pulls.All()); n != second {
			s.t.Errorf("%d pull requests, want no further one", n)
		}
		s.wait(time.Minute)
		s.pulls.Reopen("ada", second)
		s.run()
		s.pulls.Merge("ada", s.open(stagingHead).Number, "merge")
		s.run()
		s.has("staging", "web:1.0.0")
		s.has("prod", "web:1.0.0")
	})
}

// What staging is leaving by a rollback goes to prod neither before nor after the rollback is merged, until a user resumes.
// Then newer versions go on.
func TestRun_rollbackGoesNoFurther(t *testing.T) {
	t.Parallel()
	onEveryForge(t, func(s turned) {
		s.landed()
		prod := s.open(prodHead).Number
		s.wait(time.Minute)
		s.decide(decision.Decision{Verb: verb.Rollback, Environment: "staging", Application: "shop", Reason: "slow"})
		s.because(s.run(), "prod", "staging", "slow")
		if one := s.pulls.Get(prod); one.Open || one.Merged {
			s.t.Errorf("the pull request of prod stays open: %+v", one)
		}
		s.pulls.Merge("ada", s.open(stagingHead).Number, "merge")
		s.run()
		s.run()
		s.has("staging", "web:1.0.0")
		s.has("prod", "web:1.0.0")
		for _, one := range s.pulls.All() {
			if one.Open {
				s.t.Errorf("open: %+v", one)
			}
		}
		s.wait(time.Minute)
		s.decide(decision.Decision{Verb: verb.Resume, Environment: "staging", Application: "shop"})
		s.because(s.run(), "staging", "reverted", "web 1.1.0 was here before") // which only unreject ends
		s.release("web", "1.2.0")
		s.run()
		s.pulls.Merge("ada", s.open(stagingHead).Number, "merge")
		s.run()
		s.has("staging", "web:1.2.0")
		s.open(prodHead)
	})
}

// A soak goes on from run to serve where the forge has the time of a push, whether promoter saw the version earlier or not.
func TestRun_soakGoesOnAfterAPush(t *testing.T) {
	t.Parallel()
	onEveryForge(t, func(s turned) {
		s.configure("after: [staging]", "after: {staging: {soak: 1h}}")
		s.release("web", "1.1.0")
		pushed := s.writes("staging/shop.yaml", "web:1.0.0", "web:1.1.0")
		s.wait(20 * time.Minute)
		s.because(s.run(), "prod", "waiting", "present since "+pushed)
		s.wait(20 * time.Minute)
		s.serve()
		s.because(s.run(), "prod", "waiting", "present since "+pushed)
		s.wait(25 * time.Minute)
		s.run()
		s.open(prodHead)
	})
}

// configure replaces text in the config on main, as a user.
func (s turned) configure(from, to string) {
	s.t.Helper()
	config := s.branches.Run("show", "main:.promoter.yaml")
	if !strings.Contains(config, from) {
		s.t.Fatalf("the config has no %q:\n%s", from, config)
	}
	s.branches.Commit("ada", "main", "Configure", map[string]string{".promoter.yaml": strings.Replace(config, from, to, 1) + "\n"})
}

// writes writes a version of web to a file on main by hand, and returns the time.
func (s turned) writes(path, from, to string) (at string) {
	s.t.Helper()
	manifest := s.branches.Run("show", "main:"+path)
	s.branches.Commit("ada", "main", "By hand", map[string]string{path: strings.ReplaceAll(manifest, s.line(from), s.line(to)) + "\n"})
	return s.clock.Now().UTC().Format("2006-01-02T15:04")
}

// A soak counts only the time since a version came back, also if no run saw that it was gone.
func TestRun_soakBeginsAgainAfterAnInterruption(t *testing.T) {
	t.Parallel()
	onEveryForge(t, func(s turned) {
		s.configure("after: [staging]", "after: {staging: {soak: 1h}}")
		s.landed()
		s.because(s.run(), "prod", "waiting", "present since")
		s.wait(40 * time.Minute)
		s.writes("staging/shop.yaml", "web:1.1.0", "web:1.0.0")
		s.wait(10 * time.Minute)
		back := s.writes("staging/shop.yaml", "web:1.0.0", "web:1.1.0")
		s.wait(30 * time.Minute) // 80 minutes after it landed
		s.because(s.run(), "prod", "waiting", "present since "+back, "again")
		s.wait(20 * time.Minute)
		s.because(s.run(), "prod", "waiting")
		s.wait(15 * time.Minute)
		s.run()
		s.open(prodHead)
	})
}

// withBlog adds a second application with web 1.0.0, and brings web 1.1.0 to both in staging. Then it releases web 1.2.0.
func (s turned) withBlog(heads ...string) {
	s.t.Helper()
	files := map[string]string{}
	for _, environment := range []string{"dev", "staging", "prod"} {
		files[environment+"/blog.yaml"] = s.manifest("web:1.0.0")
	}
	s.branches.Commit("ada", "main", "Blog", files)
	s.release("web", "1.1.0")
	for _, head := range heads {
		s.run()
		s.pulls.Merge("ada", s.open(head).Number, "merge")
	}
	s.release("web", "1.2.0")
	s.run()
	s.wait(time.Minute)
}

// on checks that the file of an application in staging has a version of web on a branch.
func (s turned) on(branch, application, version string) {
	s.t.Helper()
	if content := s.branches.Run("show", branch+":staging/"+application+".yaml"); !strings.Contains(content, s.line(version)) {
		s.t.Errorf("%s of %s holds\n%s, want %s", application, branch, content, version)
	}
}

// A rollback does not wait for the limit of open pull requests.
func TestRun_rollbackPassesTheLimit(t *testing.T) {
	t.Parallel()
	onEveryForge(t, func(s turned) {
		s.configure("after: [dev]}", "after: [dev], pullRequest: {limit: 1}}")
		s.withBlog("promoter/staging/blog", "promoter/staging/shop")
		s.open("promoter/staging/blog")
		s.decide(decision.Decision{Verb: verb.Rollback, Environment: "staging", Application: "shop", Reason: "slow"})
		s.run()
		s.open("promoter/staging/blog")
		s.on(s.open("promoter/staging/shop").Head, "shop", "web:1.0.0")
	})
}

// A rollback leaves the pull request of its group, which goes on without that application.
func TestRun_rollbackLeavesTheGroup(t *testing.T) {
	t.Parallel()
	onEveryForge(t, func(s turned) {
		const group = "promoter/staging/_all"
		s.configure("after: [dev]}", "after: [dev], pullRequest: {group: environment}}")
		s.withBlog(group)
		s.on(s.open(group).Head, "shop", "web:1.2.0")
		s.decide(decision.Decision{Verb: verb.Rollback, Environment: "staging", Application: "shop", Reason: "slow"})
		s.run()
		s.run()
		s.on(s.open(group).Head, "blog", "web:1.2.0")
		s.on(s.open(group).Head, "shop", "web:1.1.0")
		s.on(s.open("promoter/staging/shop").Head, "shop", "web:1.0.0")
		s.on(s.open("promoter/staging/shop").Head, "blog", "web:1.1.0")
	})
}
