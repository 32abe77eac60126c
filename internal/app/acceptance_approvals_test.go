package app_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/decision"
	"promoter/internal/verb"

	"promoter/internal/promotion"
	"promoter/internal/scm/github/githubtest"
)

func TestRun_checksGateTheMerge_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "land: automerge}", `land: automerge, gates: {checks: ["ci*"]}}`), func(s *story) {
		head := s.waitingForCheck()
		for i := range 120 {
			s.repo.Settings.SetStatus("ci", head, fmt.Sprintf("other/%d", i), "success")
		}
		blocked := func(why string) {
			s.t.Helper()
			s.run()
			s.holds("prod", "1.0.0 1.0.0")
			s.calm()
			if s.t.Failed() {
				s.t.Fatal(why)
			}
		}
		blocked("absent")
		s.repo.Settings.SetStatus("ada", head, promotion.StatusContext, "success")
		blocked("our own name")
		for _, state := range []string{"in_progress", "failure"} {
			s.repo.SetCheckRun("ci", head, "ci/build", state)
			blocked(state)
		}
		s.repo.SetCheckRun("ci", head, "ci/build", "success")
		s.repo.Settings.SetStatus("ci", head, "ci/status", "pending")
		blocked("pending beside success")
		s.repo.Settings.SetStatus("ci", head, "ci/status", "success")
		s.repo.SetCheckRun("ci", head, "ci/lint", "neutral")
		s.repo.SetCheckRun("ci", head, "ci/docs", "skipped")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// A newer version is released when the gates of the previous one have passed.
func TestRun_newHeadNeedsNewChecks_github(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"pr", "automerge"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			onceOnGitHub(t, strings.ReplaceAll(chain, "after: [dev]}", "after: [dev], land: "+land+", gates: {checks: [ci, e2e]}, pullRequest: {waitForChecks: 0}}"), func(s *story) {
				s.releaseAndRun("web", "1.1.0")
				s.repo.SetCheckRun("ci", s.repo.Pulls.Get(1).HeadCommit, "ci", "success")
				s.run()
				s.calm()
				s.releaseAndRun("web", "1.2.0")
				s.calm()
				s.holds("staging", "1.0.0 1.0.0")
			})
		})
	}
}

func TestRun_onlyIndependentApprovalsCount_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "land: automerge}", "land: automerge, gates: {approvals: {count: 2, from: [\"team:acme/sre\", ada, bob, dave, \"helper[bot]\"]}}}"), func(s *story) {
		s.forge.SetTeam("acme/sre", "carol")
		for _, who := range []string{"carol", "dave", "helper[bot]"} {
			s.repo.Settings.Permit(who, "write")
		}
		s.waitingForCheck()
		blocked := func(why string) {
			s.t.Helper()
			s.run()
			s.holds("prod", "1.0.0 1.0.0")
			if s.t.Failed() {
				s.t.Fatal(why)
			}
		}
		for _, who := range []string{"promoter-bot", "helper[bot]", "stranger", "ada", "ada"} {
			s.repo.Pulls.Approve(who, 2)
			blocked(who)
		}
		s.repo.Pulls.Approve("bob", 2)
		s.repo.Pulls.Dismiss("bob", 2)
		blocked("dismissed")
		s.edit("ada", "main", "prod/shop.yaml", "kind: Deployment", "kind: Deployment # other")
		s.run() // a new head: the reviewer of the previous one has not seen it
		s.repo.Pulls.Approve("carol", 2)
		blocked("before the last push")
		s.repo.Pulls.Review("dave", 2, "changes requested")
		s.repo.Pulls.Approve("ada", 2)
		blocked("somebody asks for changes")
		s.repo.Pulls.Approve("dave", 2)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// A user who requested a promotion does not approve it.
func TestRun_requesterDoesNotApprove_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "land: automerge}", "land: automerge, propose: manual, gates: {approvals: {count: 1, from: [ada, bob]}}}"), func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.pulls(stagingHead + " merged")
		s.decideAs("ada", decision.Decision{Verb: verb.Promote, Environment: "prod", Application: "shop"})
		s.run()
		s.repo.Pulls.Approve("ada", 2)
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.repo.Pulls.Approve("bob", 2)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// Any of those who approve may be the user who requested a promotion under a name that no
// forge authenticated. So one more has to approve.
func TestRun_unverifiedRequesterMayBeAnApprover_github(t *testing.T) {
	t.Parallel()
	manual := strings.ReplaceAll(chain, "land: automerge}", "land: automerge, propose: manual, gates: {approvals: {count: 1}}}")
	begin := func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.decide(decision.Decision{Verb: verb.Promote, Environment: "prod", Application: "shop", As: "carol"})
		s.run()
		s.repo.Pulls.Approve("ada", 2)
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		if body := s.repo.Pulls.Get(2).Body; !strings.Contains(body, "unverified: carol requested it and may be one of the users who approve, so one more is needed") {
			s.t.Errorf("the body does not say why:\n%s", body)
		}
	}
	t.Run("one more approves", func(t *testing.T) {
		t.Parallel()
		onceOnGitHub(t, manual, func(s *story) {
			begin(s)
			s.repo.Pulls.Approve("bob", 2)
			s.run()
			s.holds("prod", "1.1.0 1.0.0")
			if message := s.repo.Git.Run("log", "-1", "--format=%B", "main"); !strings.Contains(message, "\nPromoter-Requested-By: unverified: carol\n") {
				s.t.Errorf("the merge says %q", message)
			}
		})
	})
	t.Run("a verified user requests it", func(t *testing.T) {
		t.Parallel()
		onceOnGitHub(t, manual, func(s *story) {
			begin(s)
			s.decideAs("bob", decision.Decision{Verb: verb.Promote, Environment: "prod", Application: "shop"})
			s.run()
			s.holds("prod", "1.1.0 1.0.0")
		})
	})
}

// Where heads must be up to date, each merge lets promoter write the other heads again. They bring the same: one approval of
// each pull request is enough, also after "Update branch". Another content needs another one.
func TestRun_approvalsBelongToContent_github(t *testing.T) {
	t.Parallel()
	config := strings.ReplaceAll(pushed(), "after: [staging], land: push}", "after: [staging], land: automerge, gates: {approvals: {count: 1}, checks: [ci]}}")
	once(t, "github", keptMirror, config, func(s *story) {
		s.repo.Rule("main", githubtest.Ruleset{Demands: githubtest.Demands{Checks: []string{"ci"}, Strict: true}})
		services := []string{"blog", "cart"}
		for _, service := range services {
			for _, environment := range []string{"dev", "staging", "prod"} {
				s.repo.Git.Commit("ada", "main", "Add", map[string]string{environment + "/" + service + ".yaml": s.manifest("web:1.0.0", "worker:1.0.0")})
			}
		}
		s.releaseAndRun("web", "1.1.0")
		pulls := s.repo.Pulls.All()
		if len(pulls) != 3 {
			t.Fatalf("%d pull requests", len(pulls))
		}
		for _, pull := range pulls {
			s.repo.Pulls.Approve("bob", pull.Number)
		}
		for range 2 * len(pulls) {
			for _, pull := range s.repo.Pulls.All() {
				if pull.Open {
					s.repo.SetCheckRun("ci", pull.HeadCommit, "ci", "success")
				}
			}
			s.run()
		}
		s.holds("prod", "1.1.0 1.0.0")
		for _, pull := range s.repo.Pulls.All() {
			if !pull.Merged {
				s.t.Errorf("#%d is not merged", pull.Number)
			}
		}
		// A user merges the base into the next one.
		s.releaseAndRun("web", "1.2.0")
		number := len(s.repo.Pulls.All())
		s.repo.Pulls.Approve("bob", number)
		s.repo.Git.Commit("ada", "main", "Elsewhere", map[string]string{"README.md": "x"})
		head := s.repo.Pulls.Get(number)
		tree := s.repo.Git.Run("merge-tree", "--write-tree", "main", head.HeadCommit)
		merged := s.repo.Git.Run("-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit-tree", tree, "-p", head.HeadCommit, "-p", "main", "-m", "Update branch")
		s.repo.Git.SetHead("ada", head.Head, merged)
		s.run()
		for range 2 {
			s.repo.SetCheckRun("ci", s.repo.Pulls.Get(number).HeadCommit, "ci", "success")
			s.run()
		}
		if !s.repo.Pulls.Get(number).Merged {
			s.t.Error("the pull request whose branch was updated is not merged")
		}
	})
}
