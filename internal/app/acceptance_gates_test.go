package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/decision"
	"promoter/internal/verb"
)

// Conditions, gates, and time.

func TestRun_parentsMustAgree(t *testing.T) {
	t.Parallel()
	config := strings.Replace(pushed(), "  prod: {paths: [\"prod/{application}.yaml\"], after: [staging]",
		"  second: {paths: [\"second/{application}.yaml\"], after: [dev], land: push}\n"+
			"  prod: {paths: [\"prod/{application}.yaml\"], after: {staging: {soak: 1h}, second: {soak: 2h}}", 1)
	onBoth(t, config, func(s *story) {
		s.repo.Git.Commit("ada", "main", "Second", map[string]string{"second/shop.yaml": s.manifest("web:1.0.0", "worker:1.0.0")})
		s.decide(decision.Decision{Verb: verb.Hold, Environment: "second", Application: "shop"})
		s.releaseAndRun("web", "1.1.0")
		s.wait(3 * time.Hour)
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.decide(decision.Decision{Verb: verb.Resume, Environment: "second", Application: "shop"})
		s.run()
		s.holds("second", "1.1.0 1.0.0")
		s.wait(time.Hour)
		s.release("web", "1.2.0") // newer in both, and eligible in neither
		s.run()
		s.wait(59 * time.Minute)
		s.because(s.run(), "prod", "soak")
		s.holds("prod", "1.0.0 1.0.0")
		s.wait(2 * time.Hour)
		s.run()
		s.holds("prod", "1.2.0 1.0.0")
	})
}

func TestRun_windowsGateLanding(t *testing.T) {
	t.Parallel()
	config := strings.Replace(pushed(), "after: [staging], land: push}", "after: [staging], land: push, gates: {windows: [office, xmas]}}", 1) + `windows:
  office: {kind: allow, schedule: "0 9 * * 1-4", duration: 7h, timeZone: Europe/Berlin}
  xmas: {kind: deny, from: 2026-12-21, until: 2027-01-04, timeZone: Europe/Berlin}
`
	berlin := func(day, hour, minute int) time.Time {
		return time.Date(2026, time.November, day, hour-1, minute, 0, 0, time.UTC)
	}
	onBoth(t, config, func(s *story) {
		s.clock.set(berlin(18, 16, 1))
		report := s.releaseAndRun("web", "1.1.0")
		s.because(report, "prod", "office")
		if until := decisionIn(report, "prod"); !strings.Contains(fmt.Sprint(until.Gates), "2026-11-19 08:00:00") {
			s.t.Errorf("the next opening is not reported: %+v", until.Gates)
		}
		s.holds("prod", "1.0.0 1.0.0")
		s.clock.set(berlin(19, 8, 58))
		s.calm()
		s.clock.set(berlin(19, 9, 0))
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		s.clock.set(time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)) // the last day of the deny window
		s.because(s.releaseAndRun("web", "1.2.0"), "prod", "xmas")
		s.holds("prod", "1.1.0 1.0.0")
		s.clock.set(time.Date(2027, 1, 5, 12, 0, 0, 0, time.UTC))
		s.run()
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// A commit of three days ago that is pushed now has not soaked.
func TestRun_soakStartsWhenItLanded(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		s.release("web", "1.1.0")
		s.clock.set(workday().AddDate(0, 0, -3))
		for _, environment := range []string{"dev", "staging"} {
			s.edit("ada", "next", environment+"/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		}
		s.clock.set(workday())
		s.repo.Git.SetHead("ada", "main", s.repo.Git.Head("next"))
		s.because(s.run(), "prod", "soak")
		s.holds("prod", "1.0.0 1.0.0")
		s.wait(50 * time.Minute)
		s.repo.Git.Commit("ada", "main", "Elsewhere", map[string]string{"README": "x\n"})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.wait(11 * time.Minute)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_taggedConditionMayFailAgain_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, strings.ReplaceAll(gatedProd, "after: [staging]", "after: {staging: {tagged: good}}"), func(s *story) {
		digest := s.release("web", "1.1.0")
		s.run()
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.because(s.run(), "prod", "good")
		s.image("web", "good", "web 1.1.0", s.made("web:1.1.0"))
		s.image("worker", "good", "worker 1.0.0", s.made("worker:1.0.0"))
		if s.digests["web:good"] != digest {
			s.t.Fatal("the tag does not point at the image")
		}
		s.run()
		s.pulls(stagingHead+" merged", prodHead+" open")
		s.image("web", "good", "something else", workday())
		s.repo.SetCheckRun("ci", s.repo.Pulls.Get(2).HeadCommit, "ci", "success")
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.image("web", "good", "web 1.1.0", s.made("web:1.1.0"))
		s.run()
		s.run()
		if pulls := s.repo.Pulls.All(); pulls[len(pulls)-1].Open {
			s.repo.SetCheckRun("ci", pulls[len(pulls)-1].HeadCommit, "ci", "success")
			s.run()
		}
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_staysEligibleAfterTheParentMoved(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		s.movedOn(func() {})
		s.holds("prod", "1.1.0 1.0.0")
		s.wait(61 * time.Minute)
		s.run()
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// movedOn lets 1.1.0 soak in staging, and replaces it by 1.2.0 before prod may have
// either.
func (s *story) movedOn(land func()) {
	s.t.Helper()
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "prod", Application: "shop"})
	for _, tag := range []string{"1.1.0", "1.2.0"} {
		s.releaseAndRun("web", tag)
		land()
		s.run()
		s.holds("staging", tag+" 1.0.0")
		if tag == "1.1.0" {
			s.wait(61 * time.Minute)
		}
	}
	s.decide(decision.Decision{Verb: verb.Resume, Environment: "prod", Application: "shop"})
	s.run()
}

func TestRun_merged_github(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			onGitHub(t, soaking(chain), func(s *story) {
				n := 0
				s.movedOn(func() {
					n++
					s.repo.Pulls.Merge("ada", n, method)
				})
				s.holds("prod", "1.1.0 1.0.0")
			})
		})
	}
}

// What was rejected or reverted upstream is not eligible any more.
func TestRun_revertedVersionsAreNotEligible(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		s.decide(decision.Decision{Verb: verb.Hold, Environment: "prod", Application: "shop"})
		s.releaseAndRun("web", "1.1.0")
		s.wait(61 * time.Minute)
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.1.0"), s.line("web:1.0.0"))
		s.run()
		s.decide(decision.Decision{Verb: verb.Resume, Environment: "prod", Application: "shop"})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.decide(decision.Decision{Verb: verb.Hold, Environment: "prod", Application: "shop"})
		s.releaseAndRun("web", "1.2.0")
		s.wait(61 * time.Minute)
		s.decide(decision.Decision{Verb: verb.Reject, Images: []string{"web:1.2.0"}, All: true})
		s.decide(decision.Decision{Verb: verb.Resume, Environment: "prod", Application: "shop"})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
	})
}

// testedInDev lets staging follow what passed e2e in dev, by pushes.
func testedInDev(config string) string {
	return strings.Replace(config, "after: [dev]}", "after: {dev: {checks: [e2e]}}, land: push}", 1)
}

// The next push cancels the run of the commit that landed. A run of a later commit, with the same versions, counts; what the
// commit before it fails, and what is skipped, does not.
func TestRun_checksBelongToWhatLanded(t *testing.T) {
	t.Parallel()
	// waitsThenPasses ends e2e on commits as a forge reports it.
	waitsThenPasses := func(s *story, commit func() string, head func() string, end func(commit, conclusion string), holds func(version string)) {
		s.releaseAndRun("web", "1.1.0")
		end(head(), "cancelled")
		s.because(s.run(), "staging", "dev check e2e: e2e ended without a result: run it again")
		end(commit(), "failure")
		s.because(s.run(), "staging", "dev check e2e: e2e failed")
		end(commit(), "skipped")
		s.because(s.run(), "staging", "dev check e2e: e2e failed")
		end(commit(), "success")
		s.run()
		holds("1.1.0")
	}
	note := map[string]string{"README.md": ""}
	write := func() map[string]string { note["README.md"] += "More.\n"; return note }
	t.Run("github", func(t *testing.T) {
		s := newStory(t, "github", testedInDev(chain))
		waitsThenPasses(s,
			func() string { return s.repo.Git.Commit("ada", "main", "Document", write()) },
			func() string { return s.repo.Git.Head("main") },
			func(commit, conclusion string) { s.repo.SetCheckRun("ci", commit, "e2e", conclusion) },
			func(version string) { s.holds("staging", version+" 1.0.0") })
	})
	t.Run("gitea", func(t *testing.T) {
		app.AnotherForge(t)
		s := newGiteaStory(t, testedInDev(chain))
		waitsThenPasses(s.story,
			func() string { return s.repo.Git.Commit("ada", "main", "Document", write()) },
			func() string { return s.repo.Git.Head("main") },
			func(commit, conclusion string) { s.repo.SetJob("ci", commit, "e2e", conclusion) },
			func(version string) { s.says("staging", "web:"+version) })
	})
	t.Run("gitlab", func(t *testing.T) {
		app.AnotherForge(t)
		s, _, project := newGitLabStoryOf(t, "", testedInDev(chain))
		words := map[string]string{"cancelled": "canceled", "failure": "failed", "skipped": "skipped", "success": "success"}
		waitsThenPasses(s,
			func() string { return project.Git.Commit("ada", "main", "Document", write()) },
			func() string { return project.Git.Head("main") },
			func(commit, conclusion string) { project.SetJob("ada", commit, "e2e", words[conclusion], false) },
			func(version string) {
				if text := project.Git.Run("show", "main:staging/shop.yaml"); !strings.Contains(text, s.line("web:"+version)) {
					t.Errorf("staging holds\n%s", text)
				}
			})
	})
}
