package engine_test

import (
	"slices"

	"promoter/internal/promotion/engine"
	"promoter/internal/scm"
)

// check holds the promises.
func (s *story) check() {
	s.t.Helper()
	s.oneEach()
	s.handsOff()
	s.forward()
}

// oneEach: at most one open pull request of ours for each branch.
func (s *story) oneEach() {
	open := map[string]int{}
	for _, pr := range s.Forge.All() {
		if pr.State == scm.StateOpen && pr.Head.Own {
			if open[pr.Head.Branch]++; open[pr.Head.Branch] > 1 {
				s.t.Errorf("two open pull requests of %s", pr.Head.Branch)
			}
		}
	}
}

// handsOff: what a person committed is not overwritten.
func (s *story) handsOff() {
	for branch, commit := range s.theirs {
		if now := s.Git.Branch(branch); now != "" && !s.contains(now, commit) {
			s.t.Errorf("the commit of a person on %s was overwritten", branch)
		}
	}
}

func (s *story) contains(head, commit string) bool {
	for c, err := range s.Git.Objects().History(head) {
		if err == nil && c.ID == commit {
			return true
		}
	}
	return false
}

// forward: what promoter landed since is newer than what was there, was in the
// parent before, was released, and was not refused.
func (s *story) forward() {
	main := s.Git.Branch("main")
	if main == s.looked {
		return
	}
	parents := map[string]string{"staging": "dev", "prod": "staging"}
	for _, commit := range s.since(main) {
		for _, environment := range environments() {
			before, after := s.lines(commit.Parents[0], environment), s.lines(commit.ID, environment)
			for i := range after {
				if after[i] == before[i] {
					continue
				}
				s.landed(environment, parents[environment], before[i], after[i])
				s.held[environment][after[i]] = true
			}
		}
		if s.Git.FilesOf(commit.ID)["mine"] != s.Git.FilesOf(commit.Parents[0])["mine"] {
			s.t.Error("a slipped commit was merged")
		}
	}
	s.looked = main
}

func (s *story) since(main string) []engine.Commit {
	var commits []engine.Commit
	for c, err := range s.Git.Objects().History(main) {
		if err != nil || c.ID == s.looked {
			break
		}
		commits = append(commits, c)
	}
	slices.Reverse(commits)
	return commits
}

func (s *story) landed(environment, parent, before, after string) {
	is, released := s.order[after]
	switch {
	case !released:
		s.t.Errorf("%s got %s, which was never released", environment, after)
	case is <= s.order[before]:
		s.t.Errorf("%s went from %s back to %s", environment, before, after)
	case parent != "" && !s.held[parent][after]:
		s.t.Errorf("%s got %s, which %s never held", environment, after, parent)
	case s.refused[environment][after]:
		s.t.Errorf("%s got %s, which a person refused", environment, after)
	}
}
