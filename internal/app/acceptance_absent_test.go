package app_test

import (
	"testing"
)

func TestRun_skipsEnvironmentsWithoutTheFile(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.without("staging/shop.yaml")
		s.because(s.releaseAndRun("web", "1.1.0"), "staging", "absent")
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// without deletes a file on main.
func (s *story) without(path string) {
	s.t.Helper()
	git := func(args ...string) string {
		return s.repo.Git.Run(append([]string{"--work-tree=" + s.repo.Git.Dir()}, args...)...)
	}
	git("read-tree", "main")
	git("update-index", "--force-remove", path)
	tree := git("write-tree")
	commit := s.repo.Git.Run("-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit-tree", tree, "-p", "main", "-m", "Without "+path)
	s.repo.Git.SetHead("ada", "main", commit)
}

func TestRun_skipsEnvironmentsWithoutReferences(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.repo.Git.Commit("ada", "main", "No reference", map[string]string{"staging/shop.yaml": "kind: Deployment\n"})
		report := s.releaseAndRun("web", "1.1.0")
		s.because(report, "staging", "no reference", "upstream has web")
		s.because(report, "prod", "waiting", "staging has no reference")
		s.holds("prod", "1.0.0 1.0.0")
	})
}

// References without changes already pass what comes from upstream.
func TestRun_unchangedReferencesPassDownstream(t *testing.T) {
	t.Parallel()
	onBoth(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}
