package app_test

import (
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/scm/forgetest"
)

// turned is a story on another forge than GitHub, with the pull requests of the server.
type turned struct {
	*story
	pulls    forgetest.Pulls
	branches forgetest.Branches
}

// onOthers plays a case on GitLab and on Gitea, which tell in other ways who closed and reopened what.
func onOthers(t *testing.T, play func(s turned)) {
	t.Helper()
	app.AnotherForge(t)
	t.Run("gitlab", func(t *testing.T) {
		t.Parallel()
		s, _, project := newGitLabStory(t, "")
		play(turned{s, project.Pulls, project.Git})
	})
	t.Run("gitea", func(t *testing.T) {
		t.Parallel()
		s := newGiteaStory(t, reviewed)
		play(turned{s.story, s.repo.Pulls, s.repo.Git})
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
