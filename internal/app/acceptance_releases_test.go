package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/decision"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/verb"
)

// checkedInDev lets dev merge what passed the check ci.
func checkedInDev(more string) string {
	return strings.Replace(chain, "land: push}", "land: automerge, gates: {checks: [ci]}"+more+"}", 1)
}

// releasing is a repository with releases that are faster than its checks.
type releasing struct {
	*story
	pulls  forgetest.Pulls
	git    forgetest.Branches
	report func(commit, state string) // of the check ci: running, success, or failure
	began  map[string]time.Time       // by head
}

// goesOn lets minutes pass, with a release every four of them, checks that take ten, and a run every two.
func (s *releasing) goesOn(minutes int) {
	s.t.Helper()
	if s.began == nil {
		s.began = map[string]time.Time{}
	}
	for minute := 0; minute < minutes; minute += 2 {
		if minute%4 == 0 {
			s.release("web", fmt.Sprintf("1.%d.0", 1+minute/4))
		}
		s.run()
		s.wait(2 * time.Minute)
		for _, pull := range s.pulls.All() {
			began, known := s.began[pull.HeadCommit]
			switch {
			case !pull.Open || !strings.Contains(pull.Head, "/dev/"):
			case !known:
				s.began[pull.HeadCommit] = s.clock.Now()
				s.report(pull.HeadCommit, "running")
			case s.clock.Now().Sub(began) >= 9*time.Minute:
				s.report(pull.HeadCommit, "success")
			}
		}
	}
}

func (s *releasing) dev(version string) {
	s.t.Helper()
	if text := s.git.Run("show", "main:dev/shop.yaml"); !strings.Contains(text, s.line("web:"+version)) {
		s.t.Errorf("dev holds\n%s", text)
	}
}

func releasingOnGitHub(t *testing.T, config string) *releasing {
	t.Helper()
	s := newStory(t, "github", config)
	states := map[string]string{"running": "in_progress", "success": "success", "failure": "failure"}
	report := func(commit, state string) { s.repo.SetCheckRun("ci", commit, "ci", states[state]) }
	return &releasing{story: s, pulls: s.repo.Pulls, git: s.repo.Git, report: report}
}

// Each head gets the time that its checks need. Without that, each release writes the head again, and nothing lands.
func TestRun_releasesAreFasterThanChecks(t *testing.T) {
	t.Parallel()
	lands := func(s *releasing) {
		s.goesOn(14)
		s.dev("1.1.0")
		if all := s.pulls.All(); len(s.began) != 2 || !all[0].Merged || !strings.Contains(all[1].Title, "1.4.0") {
			s.t.Errorf("%d heads were checked; the first of %d pull requests is %q", len(s.began), len(all), all[0].Title)
		}
	}
	t.Run("github", func(t *testing.T) {
		t.Parallel()
		lands(releasingOnGitHub(t, checkedInDev("")))
	})
	t.Run("github, without waiting", func(t *testing.T) {
		t.Parallel()
		s := releasingOnGitHub(t, checkedInDev(", pullRequest: {waitForChecks: 0}"))
		s.goesOn(14)
		s.dev("1.0.0")
	})
	t.Run("github, by the rules of the branch", func(t *testing.T) {
		t.Parallel()
		s := releasingOnGitHub(t, strings.Replace(checkedInDev(""), ", gates: {checks: [ci]}", "", 1))
		s.repo.Protect("main", githubtest.Protection{Demands: githubtest.Demands{Checks: []string{"ci"}}})
		lands(s)
	})
	t.Run("gitea", func(t *testing.T) {
		t.Parallel()
		app.AnotherForge(t)
		s := newGiteaStory(t, checkedInDev(""))
		states := map[string]string{"running": "pending", "success": "success", "failure": "failure"}
		report := func(commit, state string) { s.repo.Settings.SetStatus("ci", commit, "ci", states[state]) }
		lands(&releasing{story: s.story, pulls: s.repo.Pulls, git: s.repo.Git, report: report})
	})
	t.Run("gitlab", func(t *testing.T) {
		t.Parallel()
		app.AnotherForge(t)
		s, _, project := newGitLabStoryOf(t, "", checkedInDev(""))
		states := map[string]string{"running": "running", "success": "success", "failure": "failed"}
		report := func(commit, state string) { project.SetStatus("ada", commit, "ci", states[state]) }
		lands(&releasing{story: s, pulls: project.Pulls, git: project.Git, report: report})
	})
}

// Where users merge, the rules of the branch are read when a newer version would be written.
func TestRun_waitsForChecksOfTheForge_github(t *testing.T) {
	t.Parallel()
	s := releasingOnGitHub(t, strings.Replace(chain, ", land: push}", "}", 1))
	s.repo.Protect("main", githubtest.Protection{Demands: githubtest.Demands{Checks: []string{"ci"}}})
	s.releaseAndRun("web", "1.1.0")
	head := s.pulls.Get(1).HeadCommit
	s.report(head, "running")
	s.releaseAndRun("web", "1.2.0")
	s.calm()
	if s.pulls.Get(1).HeadCommit != head {
		t.Error("it was written again while ci ran")
	}
	s.report(head, "success")
	s.run()
	s.holdsOn("promoter/dev/shop", "dev", "1.2.0 1.0.0")
	s.calm()
}

// What waits is written as soon as the checks failed, the time has passed, or a user does not want what is open.
func TestRun_endOfWaitingForChecks_github(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config string
		end    func(s *releasing, head string)
	}{
		"failed":  {"", func(s *releasing, head string) { s.report(head, "failure") }},
		"too old": {"", func(s *releasing, _ string) { s.wait(26 * time.Minute) }},
		"shorter": {", pullRequest: {waitForChecks: 10m}", func(s *releasing, _ string) { s.wait(6 * time.Minute) }},
		"rejected": {"", func(s *releasing, _ string) {
			s.decide(decision.Decision{Verb: verb.Reject, Images: []string{"web:1.1.0"}, All: true})
		}},
		"hotfix": {"", func(s *releasing, _ string) {
			s.decide(decision.Decision{Verb: verb.Promote, Environment: "dev", Application: "shop", With: []string{"web:1.2.0"}})
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := releasingOnGitHub(t, checkedInDev(test.config))
			s.releaseAndRun("web", "1.1.0")
			head := s.pulls.Get(1).HeadCommit
			s.report(head, "running")
			s.wait(5 * time.Minute)
			report := s.releaseAndRun("web", "1.2.0")
			if d := decisionIn(report, "dev"); len(d.Newer) != 1 || s.pulls.Get(1).HeadCommit != head {
				t.Fatalf("it was written again: %+v", d)
			}
			s.calm()
			test.end(s, head)
			s.run()
			if one := s.pulls.Get(1); one.HeadCommit == head || !strings.Contains(one.Title, "1.2.0") {
				t.Errorf("it was not written again: %q", one.Title)
			}
			s.calm()
		})
	}
}
