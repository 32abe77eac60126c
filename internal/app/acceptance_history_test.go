package app_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"promoter/internal/decision"
	"promoter/internal/verb"
)

// What only Git shows: manual edits, reverts, forced pushes, and user decisions.

// twenty is a config of twenty environments in one branch.
func twenty(land string) string {
	text := "version: 1\ncomponents:\n  web: {image: $R/acme/web, select: {semver: \">=1\"}}\nenvironments:\n"
	for i := range 20 {
		text += fmt.Sprintf("  e%02d: {paths: [\"e%02d/{application}.yaml\"], land: %s}\n", i, i, land)
	}
	return text
}

// twentyFiles adds the application to each of them.
func (s *story) twentyFiles() {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("e%02d/shop.yaml", i)] = s.manifest("web:1.0.0")
	}
	s.repo.Git.Commit("ada", "main", "Twenty", files)
	s.release("web", "1.1.0")
}

func (s *story) twentyHold(want string) {
	s.t.Helper()
	for i := range 20 {
		s.holds(fmt.Sprintf("e%02d", i), want)
	}
}

func TestRun_manyEnvironmentsInOnePush_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, twenty("push"), (*story).oneChain)
}

func TestRun_manyEnvironmentsInOneBranch_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, twenty("push"), (*story).oneChain)
}

func (s *story) oneChain() {
	s.twentyFiles()
	s.run()
	s.twentyHold("1.1.0")
	if n := s.forge.Traffic.Requests()["GIT receive-pack"]; n != 1 {
		s.t.Errorf("pushed %d times", n)
	}
	if n := s.repo.Git.Run("rev-list", "--count", "main"); n != "22" {
		s.t.Errorf("%s commits, want one for each environment and the two before", n)
	}
}

func TestRun_automerge_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, twenty("automerge"), func(s *story) {
		s.twentyFiles()
		s.run()
		s.twentyHold("1.1.0")
	})
}

func TestRun_changeMadeByAUserCountsAsLanded_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, soaking(pushed()), func(s *story) {
		s.release("web", "1.1.0")
		s.edit("ada", "main", "dev/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
		s.holds("prod", "1.0.0 1.0.0")
		s.calm()
		s.wait(61 * time.Minute)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_revertRejectsItsVersions_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.wait(time.Minute)
		s.repo.Pulls.Merge("ada", 1, "squash")
		s.wait(time.Minute)
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.1.0"), s.line("web:1.0.0"))
		s.because(s.run(), "staging", "reverted", "was reverted")
		s.holds("prod", "1.0.0 1.0.0")
		s.pulls(stagingHead + " merged")
		s.calm()
		s.wait(time.Minute)
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead+" merged", stagingHead+" open")
		s.holdsOn(stagingHead, "staging", "1.2.0 1.0.0")
	})
}

func TestRun_revertRejectsItsVersions_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.wait(time.Minute)
		for _, environment := range []string{"dev", "prod"} {
			s.edit("ada", "main", environment+"/shop.yaml", s.line("web:1.1.0"), s.line("web:1.0.0"))
		}
		report := s.run()
		s.because(report, "dev", "reverted", "was reverted")
		s.because(report, "prod", "reverted", "was reverted")
		s.holds("staging", "1.1.0 1.0.0")
		s.calm()
		s.wait(40 * 24 * time.Hour)
		s.run()
		s.holds("dev", "1.0.0 1.0.0")
		s.releaseAndRun("web", "1.2.0")
		s.holds("prod", "1.2.0 1.0.0")
	})
}

// Held, rejected, and frozen targets stay so, with and without a cache between two
// runs.
func TestRun_userDecisionsOutliveTheCache_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, pushed(), (*story).remembered)
}

func TestRun_userDecisionsOutliveTheCache_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), (*story).remembered)
}

func (s *story) remembered() {
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "dev", Application: "shop", Reason: "incident 12"})
	s.decide(decision.Decision{Verb: verb.Freeze, Environment: "prod", Reason: "release day"})
	s.releaseAndRun("web", "1.1.0")
	for range 2 {
		if s.cache != "" {
			if err := os.RemoveAll(s.cache); err != nil {
				s.t.Fatal(err)
			}
		}
		s.because(s.run(), "dev", "on hold", "incident 12")
		s.holds("dev", "1.0.0 1.0.0")
	}
	s.decide(decision.Decision{Verb: verb.Reject, Images: []string{"web:1.1.0"}, All: true, Reason: "it leaks"})
	s.decide(decision.Decision{Verb: verb.Resume, Environment: "dev", Application: "shop"})
	s.because(s.run(), "dev", "rejected", "it leaks")
	s.because(s.releaseAndRun("web", "1.2.0"), "prod", "frozen", "release day")
	s.holds("staging", "1.2.0 1.0.0")
	s.holds("prod", "1.0.0 1.0.0")
	s.calm()
	s.decide(decision.Decision{Verb: verb.Thaw, Environment: "prod"})
	s.run()
	s.holds("prod", "1.2.0 1.0.0")
}

// A forced push of the base, on a server that repacked with bitmaps, with many other
// files. What it removed is a revert where the commits before it are known.
func TestRun_forcedBaseAndRepackedServer_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, pushed(), (*story).forced)
}

func TestRun_forcedBaseAndRepackedServer_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), (*story).forced)
}

func (s *story) forced() {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("dev/more/%02d/f%04d.yaml", i%40, i)] = fmt.Sprintf("kind: ConfigMap\ndata: {n: %d}\n", i)
	}
	s.repo.Git.Commit("ada", "main", "Many files", files)
	before := s.repo.Git.Head("main")
	s.releaseAndRun("web", "1.1.0")
	s.holds("prod", "1.1.0 1.0.0")
	s.repo.Git.Run("repack", "-qadb")
	s.wait(time.Minute)
	s.repo.Git.SetHead("ada", "main", before)
	s.edit("ada", "main", "dev/shop.yaml", "kind: Deployment", "kind: Deployment # after the forced push")
	s.repo.Git.Run("repack", "-qadb")
	if s.cache != "" { // whose mirror has the lost commits: they count as reverted
		lost := s.pass()
		if len(lost.Report.Errors) != 1 || !strings.Contains(lost.Report.Errors[0].Err.Error(), "main was moved back") {
			s.t.Errorf("the lost commits: %v, %+v", lost.Err, lost.Report.Errors)
		}
		s.because(lost.Report, "dev", "rejected", "main was moved back")
		s.because(s.run(), "dev", "rejected", "main was moved back")
		s.holds("prod", "1.0.0 1.0.0")
		s.decide(decision.Decision{Verb: verb.Unreject, Images: []string{"web:1.1.0"}, All: true})
	}
	s.run()
	s.holds("prod", "1.1.0 1.0.0")
	s.wait(time.Minute)
	for _, environment := range []string{"dev", "staging", "prod"} {
		s.edit("ada", "main", environment+"/shop.yaml", s.line("web:1.1.0"), s.line("web:1.0.0"))
	}
	s.repo.Git.Run("repack", "-qadb")
	s.because(s.run(), "dev", "reverted")
	s.holds("dev", "1.0.0 1.0.0")
	s.releaseAndRun("worker", "1.1.0")
	s.holds("prod", "1.0.0 1.1.0")
	if text := s.repo.Git.Run("show", "main:dev/shop.yaml"); !strings.Contains(text, "# after the forced push") {
		s.t.Error("the work of a person is gone")
	}
}
