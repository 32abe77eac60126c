package app_test

import (
	"strings"
	"testing"
)

// The whole way of one image: pushed to dev, a pull request for staging that a
// person merges, merged by promoter into prod.
func TestRun_wholeWay_github(t *testing.T) {
	onGitHub(t, chain, func(s *story) {
		s.calm()
		s.release("web", "1.1.0")
		s.run()
		s.holds("dev", "1.1.0 1.0.0")
		s.pulls(stagingHead + " open")
		s.calm()
		s.repo.MergePull("ada", 1, "merge")
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
		s.holds("prod", "1.1.0 1.0.0")
		s.pulls(stagingHead+" merged", prodHead+" merged")
		if refs := s.repo.Git("for-each-ref", "refs/heads/promoter/staging", "refs/heads/promoter/prod"); refs != "" {
			s.t.Errorf("branches that served are left: %s", refs)
		}
	})
}

func TestRun_P01_github(t *testing.T) {
	onGitHub(t, chain, func(s *story) {
		s.release("web", "1.1.0")
		s.run()
		before := s.repo.Pull(1)
		s.release("web", "1.2.0")
		s.run()
		after := s.repo.Pull(1)
		s.pulls(stagingHead + " open")
		if before.HeadCommit == after.HeadCommit || before.Title == after.Title || before.Body == after.Body || !strings.Contains(after.Title, "1.2.0") {
			s.t.Errorf("it was not refreshed: %q, %q", before.Title, after.Title)
		}
		s.holdsOn(stagingHead, "staging", "1.2.0 1.0.0")
	})
}

func TestRun_P08_github(t *testing.T) {
	onGitHub(t, chain, func(s *story) {
		s.release("web", "1.1.0")
		s.run()
		head := s.repo.Pull(1).HeadCommit
		s.repo.Commit("ada", "main", "Elsewhere", map[string]string{"README": "hello\n"})
		s.repo.Commit("ada", "main", "Elsewhere again", map[string]string{"README": "hello, world\n"})
		s.calm()
		if s.repo.Pull(1).HeadCommit != head {
			s.t.Error("it was pushed for a base that moved in other files")
		}
		s.edit("ada", "main", "staging/shop.yaml", "kind: Deployment", "kind: Deployment # ours")
		s.run()
		if text := s.repo.Git("show", stagingHead+":staging/shop.yaml"); s.repo.Pull(1).HeadCommit == head || !strings.Contains(text, "# ours") {
			s.t.Errorf("it was not rebuilt for a base that moved in its file:\n%s", text)
		}
		s.holdsOn(stagingHead, "staging", "1.1.0 1.0.0")
	})
}

// alone is a config in which prod follows the registry. Nobody wrote to its branch
// for longer than history is read.
const alone = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  prod: {paths: ["prod/{application}.yaml"], land: automerge, gates: {checks: [ci]}}
`

func TestRun_P08_oldBase_github(t *testing.T) {
	onGitHub(t, alone, func(s *story) {
		s.release("web", "1.1.0")
		s.run()
		head := s.repo.Pull(1).HeadCommit
		s.repo.Commit("ada", "main", "Elsewhere", map[string]string{"README": "hello\n"})
		s.repo.Commit("ada", "main", "Elsewhere again", map[string]string{"README": "hello, world\n"})
		s.calm()
		s.repo.SetCheckRun("ci", head, "ci", "success")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if pull := s.repo.Pull(1); pull.HeadCommit != head || !pull.Merged {
			s.t.Errorf("it was pushed for a base that moved in other files: %+v", pull)
		}
	})
}
