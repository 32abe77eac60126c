package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/promotion"
)

// Conditions, gates and time.

func TestRun_G01_both(t *testing.T) {
	t.Parallel()
	config := strings.Replace(pushed(), "  prod: {paths: [\"prod/{application}.yaml\"], after: [staging]",
		"  second: {paths: [\"second/{application}.yaml\"], after: [dev], land: push}\n"+
			"  prod: {paths: [\"prod/{application}.yaml\"], after: {staging: {soak: 1h}, second: {soak: 2h}}", 1)
	onBoth(t, config, func(s *story) {
		s.repo.Commit("ada", "main", "Second", map[string]string{"second/shop.yaml": s.manifest("web:1.0.0", "worker:1.0.0")})
		s.decide(app.Order{Verb: app.VerbHold, Environment: "second", Application: "shop"})
		s.release("web", "1.1.0")
		s.run()
		s.wait(3 * time.Hour)
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.decide(app.Order{Verb: app.VerbResume, Environment: "second", Application: "shop"})
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

func TestRun_G02_both(t *testing.T) {
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
		s.release("web", "1.1.0")
		report := s.run()
		s.because(report, "prod", "office")
		if until := decision(report, "prod"); !strings.Contains(fmt.Sprint(until.Gates), "2026-11-19 08:00:00") {
			s.t.Errorf("the next opening is not told: %+v", until.Gates)
		}
		s.holds("prod", "1.0.0 1.0.0")
		s.clock.set(berlin(19, 8, 58))
		s.calm()
		s.clock.set(berlin(19, 9, 0))
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		s.clock.set(time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)) // the last day of the deny
		s.release("web", "1.2.0")
		s.because(s.run(), "prod", "xmas")
		s.holds("prod", "1.1.0 1.0.0")
		s.clock.set(time.Date(2027, 1, 5, 12, 0, 0, 0, time.UTC))
		s.run()
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// A commit of three days ago that is pushed now has not soaked.
func TestRun_G03_both(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		s.release("web", "1.1.0")
		s.clock.set(workday().AddDate(0, 0, -3))
		for _, environment := range []string{"dev", "staging"} {
			s.edit("ada", "main", environment+"/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		}
		s.clock.set(workday())
		s.because(s.run(), "prod", "soak")
		s.holds("prod", "1.0.0 1.0.0")
		s.wait(50 * time.Minute)
		s.repo.Commit("ada", "main", "Elsewhere", map[string]string{"README": "x\n"})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.wait(11 * time.Minute)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_G07_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "land: automerge}", `land: automerge, gates: {checks: ["ci*"]}}`), func(s *story) {
		head := s.waitingForCheck()
		for i := range 120 {
			s.repo.SetStatus("ci", head, fmt.Sprintf("other/%d", i), "success")
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
		s.repo.SetStatus("ada", head, promotion.StatusContext, "success")
		blocked("our own name")
		for _, state := range []string{"in_progress", "failure"} {
			s.repo.SetCheckRun("ci", head, "ci/build", state)
			blocked(state)
		}
		s.repo.SetCheckRun("ci", head, "ci/build", "success")
		s.repo.SetStatus("ci", head, "ci/status", "pending")
		blocked("pending beside success")
		s.repo.SetStatus("ci", head, "ci/status", "success")
		s.repo.SetCheckRun("ci", head, "ci/lint", "neutral")
		s.repo.SetCheckRun("ci", head, "ci/docs", "skipped")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// A newer version comes when the gates of the one before had passed.
func TestRun_G07_P01_newHead_github(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"pr", "automerge"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			onceOnGitHub(t, strings.ReplaceAll(chain, "after: [dev]}", "after: [dev], land: "+land+", gates: {checks: [ci, e2e]}}"), func(s *story) {
				s.release("web", "1.1.0")
				s.run()
				s.repo.SetCheckRun("ci", s.repo.Pull(1).HeadCommit, "ci", "success")
				s.run()
				s.calm()
				s.release("web", "1.2.0")
				s.run()
				s.calm()
				s.holds("staging", "1.0.0 1.0.0")
			})
		})
	}
}

func TestRun_G08_absent_both(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.without("staging/shop.yaml")
		s.release("web", "1.1.0")
		s.because(s.run(), "staging", "absent")
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// without takes a file out of main.
func (s *story) without(path string) {
	s.t.Helper()
	git := func(args ...string) string {
		return s.repo.Git(append([]string{"--work-tree=" + s.repo.Dir()}, args...)...)
	}
	git("read-tree", "main")
	git("update-index", "--force-remove", path)
	tree := git("write-tree")
	commit := s.repo.Git("-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit-tree", tree, "-p", "main", "-m", "Without "+path)
	s.repo.SetHead("ada", "main", commit)
}

func TestRun_G08_noReference_both(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.repo.Commit("ada", "main", "No reference", map[string]string{"staging/shop.yaml": "kind: Deployment\n"})
		s.release("web", "1.1.0")
		report := s.run()
		s.because(report, "staging", "no reference", "the environment before has web")
		s.because(report, "prod", "waiting", "staging holds no reference")
		s.holds("prod", "1.0.0 1.0.0")
	})
}

// What is the same already passes on what comes from before it.
func TestRun_G08_same_both(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_G09_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "land: automerge}", "land: automerge, gates: {approvals: {count: 2, from: [\"team:acme/sre\", ada, bob, dave, \"helper[bot]\"]}}}"), func(s *story) {
		s.forge.SetTeam("acme/sre", "carol")
		for _, who := range []string{"carol", "dave", "helper[bot]"} {
			s.repo.Permit(who, "write")
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
			s.repo.Review(who, 2, "APPROVED")
			blocked(who)
		}
		s.repo.Review("bob", 2, "APPROVED")
		s.repo.DismissReviews("bob", 2)
		blocked("dismissed")
		s.edit("ada", "main", "prod/shop.yaml", "kind: Deployment", "kind: Deployment # other")
		s.run() // a new head: who approved the one before has not seen it
		s.repo.Review("carol", 2, "APPROVED")
		blocked("before the last push")
		s.repo.Review("dave", 2, "CHANGES_REQUESTED")
		s.repo.Review("ada", 2, "APPROVED")
		blocked("somebody asks for changes")
		s.repo.Review("dave", 2, "APPROVED")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// Who asked for a promotion does not approve it.
func TestRun_G09_whoAsked_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "land: automerge}", "land: automerge, propose: manual, gates: {approvals: {count: 1, from: [ada, bob]}}}"), func(s *story) {
		s.release("web", "1.1.0")
		s.run()
		s.repo.MergePull("ada", 1, "merge")
		s.run()
		s.pulls(stagingHead + " merged")
		s.decide(app.Order{Verb: app.VerbPromote, Environment: "prod", Application: "shop", As: "ada"})
		s.run()
		s.repo.Review("ada", 2, "APPROVED")
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.repo.Review("bob", 2, "APPROVED")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_G12_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, strings.ReplaceAll(gatedProd, "after: [staging]", "after: {staging: {tagged: good}}"), func(s *story) {
		digest := s.release("web", "1.1.0")
		s.run()
		s.repo.MergePull("ada", 1, "merge")
		s.because(s.run(), "prod", "good")
		s.image("web", "good", "web 1.1.0", s.made("web:1.1.0"))
		s.image("worker", "good", "worker 1.0.0", s.made("worker:1.0.0"))
		if s.digests["web:good"] != digest {
			s.t.Fatal("the tag does not point at the image")
		}
		s.run()
		s.pulls(stagingHead+" merged", prodHead+" open")
		s.image("web", "good", "something else", workday())
		s.repo.SetCheckRun("ci", s.repo.Pull(2).HeadCommit, "ci", "success")
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.image("web", "good", "web 1.1.0", s.made("web:1.1.0"))
		s.run()
		s.run()
		if pulls := s.repo.Pulls(); pulls[len(pulls)-1].Open {
			s.repo.SetCheckRun("ci", pulls[len(pulls)-1].HeadCommit, "ci", "success")
			s.run()
		}
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_G13_both(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		s.movedOn(func() {})
		s.holds("prod", "1.1.0 1.0.0")
		s.wait(61 * time.Minute)
		s.run()
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// movedOn brings 1.1.0 to soak in staging, and then 1.2.0 in its place, before prod
// may take either.
func (s *story) movedOn(land func()) {
	s.t.Helper()
	s.decide(app.Order{Verb: app.VerbHold, Environment: "prod", Application: "shop"})
	for _, tag := range []string{"1.1.0", "1.2.0"} {
		s.release("web", tag)
		s.run()
		land()
		s.run()
		s.holds("staging", tag+" 1.0.0")
		if tag == "1.1.0" {
			s.wait(61 * time.Minute)
		}
	}
	s.decide(app.Order{Verb: app.VerbResume, Environment: "prod", Application: "shop"})
	s.run()
}

func TestRun_G13_merged_github(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			onGitHub(t, soaking(chain), func(s *story) {
				n := 0
				s.movedOn(func() {
					n++
					s.repo.MergePull("ada", n, method)
				})
				s.holds("prod", "1.1.0 1.0.0")
			})
		})
	}
}

// What was rejected or taken back where it was eligible is so no more.
func TestRun_G13_takenBack_both(t *testing.T) {
	t.Parallel()
	onBoth(t, soaking(pushed()), func(s *story) {
		s.decide(app.Order{Verb: app.VerbHold, Environment: "prod", Application: "shop"})
		s.release("web", "1.1.0")
		s.run()
		s.wait(61 * time.Minute)
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.1.0"), s.line("web:1.0.0"))
		s.run()
		s.decide(app.Order{Verb: app.VerbResume, Environment: "prod", Application: "shop"})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		s.decide(app.Order{Verb: app.VerbHold, Environment: "prod", Application: "shop"})
		s.release("web", "1.2.0")
		s.run()
		s.wait(61 * time.Minute)
		s.decide(app.Order{Verb: app.VerbReject, Images: []string{"web:1.2.0"}})
		s.decide(app.Order{Verb: app.VerbResume, Environment: "prod", Application: "shop"})
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
	})
}
