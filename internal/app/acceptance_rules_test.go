package app_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/app"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// What GitHub requires before a merge.

// proposedToProd brings 1.1.0 to an open pull request for prod, with rules on main.
func (s *story) proposedToProd(rules githubtest.Ruleset) outcome.Report {
	s.t.Helper()
	s.repo.Rule("main", rules)
	return s.toProd()
}

func (s *story) toProd() outcome.Report {
	s.t.Helper()
	s.releaseAndRun("web", "1.1.0")
	s.repo.Pulls.Merge("ada", 1, "merge")
	report := s.run()
	s.calm()
	return report
}

// gated runs, and requires these gates of prod, each with its value and reason, in the
// result of the run and in the pull request.
func (s *story) gated(want ...string) {
	s.t.Helper()
	report := s.run()
	looked, err := app.Explain(s.t.Context(), s.server, app.RunOptions{CacheDir: s.cache}, reconcile.Question{})
	if err != nil || !cmp.Equal(decisionIn(looked[0].Report, "prod").Gates, decisionIn(report, "prod").Gates) {
		s.t.Errorf("explain says other than run: %v", err)
	}
	var got []string
	for _, done := range report.Effects {
		if done.Environment.Name != "prod" {
			continue
		}
		got = nil // the last attempt has the newest
		for _, gate := range done.Gates {
			got = append(got, strings.TrimSpace(gate.Name+": "+string(gate.State)+" "+gate.Value)+": "+gate.Reason)
		}
	}
	if len(got) != len(want) {
		s.t.Fatalf("gates:\n%s", strings.Join(got, "\n"))
	}
	pulls := s.repo.Pulls.All()
	for i, begin := range want {
		if !strings.HasPrefix(got[i], begin) {
			s.t.Errorf("gate %q, want %q", got[i], begin)
		}
		if name, _, _ := strings.Cut(begin, ":"); !strings.Contains(pulls[len(pulls)-1].Body, "| `"+name+"` |") {
			s.t.Errorf("the pull request does not tell %s:\n%s", name, pulls[len(pulls)-1].Body)
		}
	}
	s.holds("prod", "1.0.0 1.0.0")
	s.calm()
}

func TestRun_requiredByGitHub_github(t *testing.T) {
	t.Parallel()
	config := strings.ReplaceAll(chain, "land: automerge}", "land: automerge, gates: {approvals: {count: 1, from: [carol]}}}")
	onceOnGitHub(t, config, func(s *story) {
		s.repo.Settings.Permit("carol", "write")
		s.proposedToProd(githubtest.Ruleset{Demands: githubtest.Demands{Checks: []string{"ci", promotion.StatusContext}, Approvals: 2, LastPush: true}})
		head := s.repo.Pulls.Get(2).HeadCommit
		s.gated("approvals: waiting 0 of 1", "protection approvals: waiting 0 of 2: main requires 2 approvals", "protection check ci: waiting: the check ci was not reported")
		s.repo.Pulls.Approve("promoter-bot", 2)
		s.repo.Pulls.Approve("ada", 2)
		s.repo.SetCheckRun("ci", head, "ci", "in_progress")
		s.gated("approvals: waiting 0 of 1: not approved yet by carol; the approval of promoter-bot does not count: it is promoter's own",
			"protection approvals: waiting 1 of 2", "protection check ci: waiting: ci has not finished")
		s.repo.SetCheckRun("ci", head, "ci", "success")
		s.repo.Pulls.Approve("bob", 2)
		s.gated("approvals: waiting 0 of 1", "protection approvals: passed 2 of 2", "protection check ci: passed")
		s.repo.Pulls.Approve("carol", 2)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if n := s.forge.Traffic.Requests()["PUT /repos/{owner}/{repo}/pulls/{number}/merge"]; n != 1 {
			s.t.Errorf("asked to merge %d times", n)
		}
	})
}

// Each allowed merge method works at the first attempt, and the trailers of the commit
// on main show what landed.
func TestRun_mergeMethods_github(t *testing.T) {
	t.Parallel()
	signed, linear := githubtest.Demands{Signed: true}, githubtest.Demands{Linear: true}
	for name, test := range map[string]struct {
		methods string
		rules   githubtest.Ruleset
		parents int
	}{
		"merge":             {"merge squash rebase", githubtest.Ruleset{}, 2},
		"squash only":       {"squash", githubtest.Ruleset{}, 1},
		"rebase only":       {"rebase", githubtest.Ruleset{}, 1},
		"linear":            {"merge squash rebase", githubtest.Ruleset{Demands: linear}, 1},
		"signed":            {"merge squash rebase", githubtest.Ruleset{Demands: signed}, 1},
		"linear and signed": {"merge squash rebase", githubtest.Ruleset{Demands: githubtest.Demands{Signed: true, Linear: true}}, 1},
		"squash by a rule":  {"merge squash rebase", githubtest.Ruleset{Methods: []string{"squash"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onceOnGitHub(t, chain, func(s *story) {
				s.repo.AllowMethods(strings.Fields(test.methods)...)
				s.repo.Rule("main", test.rules)
				s.releaseAndRun("web", "1.1.0")
				s.repo.Pulls.Merge("ada", 1, "squash")
				s.run()
				s.holds("prod", "1.1.0 1.0.0")
				if n := s.forge.Traffic.Requests()["PUT /repos/{owner}/{repo}/pulls/{number}/merge"]; n != 1 {
					s.t.Errorf("asked to merge %d times", n)
				}
				commit := s.repo.Pulls.Get(2).MergeCommit
				if parents := strings.Fields(s.repo.Git.Run("log", "-1", "--format=%P", commit)); len(parents) != test.parents {
					s.t.Errorf("%d parents", len(parents))
				}
				log := s.repo.Git.Run("log", "-2", "--format=%(trailers)", commit)
				for _, trailer := range []string{"Promoter-Environment: prod", "Promoter-Image: web=" + s.host + "/acme/web:1.1.0@" + s.digests["web:1.1.0"]} {
					if !strings.Contains(log, trailer) {
						s.t.Errorf("%s is not among the trailers of %s", trailer, log)
					}
				}
			})
		})
	}
}

// Code owners must approve, which only GitHub knows: the refusal contains it, and their
// approval is noticed at once.
func TestRun_codeOwner_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.proposedToProd(githubtest.Ruleset{Demands: githubtest.Demands{Owner: "bob", Approvals: 1}})
		s.gated("protection approvals: waiting 0 of 1: main requires 1 approval, and those of code owners (CODEOWNERS)")
		s.wait(time.Minute)
		s.repo.Pulls.Approve("ada", 2)
		s.gated("protection approvals: passed 1 of 1: if the files have code owners", "merge: blocked: the forge refused the merge: Waiting on code owner review from bob.")
		s.wait(time.Minute)
		s.repo.Pulls.Approve("bob", 2)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// A conversation that a user resolved is noticed at the next reconciliation, although no list has it.
func TestRun_resolvedConversation_github(t *testing.T) {
	t.Parallel()
	merges := func(s *story) int {
		return s.forge.Traffic.Requests()["PUT /repos/{owner}/{repo}/pulls/{number}/merge"]
	}
	onceOnGitHub(t, chain, func(s *story) {
		s.proposedToProd(githubtest.Ruleset{Demands: githubtest.Demands{Conversations: true}})
		const refused = "merge: blocked: the forge refused the merge: A conversation must be resolved before this pull request can be merged."
		s.gated(refused)
		tried := merges(s)
		s.wait(time.Minute)
		s.gated(refused)
		s.gated(refused)
		if merges(s) != tried {
			s.t.Errorf("tried %d times more", merges(s)-tried)
		}
		s.repo.Resolve("ada", 2)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}
