package app_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/decision"
	"promoter/internal/verb"
)

func TestRun_closedPullRequestRejectsItsVersions_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Close("ada", 1)
		s.because(s.run(), "staging", "rejected", "ada", "#1")
		s.calm()
		s.wait(time.Minute)
		s.decide(decision.Decision{Verb: verb.Unreject, Environment: "staging", Application: "shop", Images: []string{"web:1.1.0"}})
		s.run()
		s.pulls(stagingHead+" closed", stagingHead+" open")
		s.wait(time.Minute)
		s.repo.Pulls.Close("ada", 2)
		s.run()
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead+" closed", stagingHead+" closed", stagingHead+" open")
	})
}

func TestRun_deletedBranchIsRecreatedOnce_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Git.DeleteBranch("ada", stagingHead)
		s.run()
		s.pulls(stagingHead+" closed", stagingHead+" open")
		s.calm()
		s.wait(time.Minute)
		s.repo.Git.DeleteBranch("ada", stagingHead)
		s.because(s.run(), "staging", "on hold", "deleted")
		s.pulls(stagingHead+" closed", stagingHead+" closed")
	})
}

// A user who closes a pull request and then deletes its branch has rejected its
// versions, even without a run in between.
func TestRun_closedWithDeletedBranchRejects_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Close("ada", 1)
		s.wait(5 * time.Second)
		s.repo.Git.DeleteBranch("ada", stagingHead)
		s.because(s.run(), "staging", "rejected", "ada", "#1")
		s.pulls(stagingHead + " closed")
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead+" closed", stagingHead+" open")
	})
}

// A pull request that promoter closes is not a rejection.
func TestRun_closingByPromoterRejectsNothing_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.run()
		s.pulls(stagingHead+" closed", prodHead+" merged")
		s.holds("prod", "1.1.0 1.0.0")
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead+" closed", prodHead+" merged", stagingHead+" open")
	})
}

// The later act of a user counts: a closed pull request that is reopened stays open, and what is merged then
// continues.
func TestRun_closedThenReopenedAndMergedContinues_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Close("ada", 1)
		s.because(s.run(), "staging", "rejected", "ada", "#1")
		s.wait(time.Minute)
		s.repo.Pulls.Reopen("ada", 1)
		s.run()
		s.pulls(stagingHead + " open")
		s.calm()
		s.repo.Pulls.Merge("ada", 1, "squash")
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// What a user closed and then writes by hand continues, whatever time the commit has.
func TestRun_closedThenWrittenByHandContinues_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Close("ada", 1)
		s.run()
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// A bot decides nothing: its close is undone once.
func TestRun_closeByABotReopensOnce_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Close("stale[bot]", 1)
		s.run()
		s.pulls(stagingHead+" closed", stagingHead+" open")
		s.wait(time.Minute)
		s.repo.Pulls.Close("stale[bot]", 2)
		s.because(s.run(), "staging", "blocked", "stale[bot]", "#2", "#1")
		s.pulls(stagingHead+" closed", stagingHead+" closed")
	})
}

// soaking waits an hour before prod, which shows when staging landed.
func soaking(config string) string {
	return strings.ReplaceAll(config, "after: [staging]", "after: {staging: {soak: 1h}}")
}
