package engine_test

import (
	"slices"
	"strings"

	"promoter/internal/promotion/engine"
	"promoter/internal/scm"
)

// check holds the promises.
func (s *story) check() {
	s.t.Helper()
	s.oneEach()
	s.handsOff()
	for _, branch := range s.branches() {
		s.forward(branch)
	}
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
func (s *story) forward(branch string) {
	head := s.Git.Branch(branch)
	for _, commit := range s.since(branch) {
		if len(commit.Parents) == 0 {
			continue
		}
		for _, place := range places() {
			if s.branchOf(place) == branch {
				s.step1(place, s.lines(commit.Parents[0], place), s.lines(commit.ID, place))
			}
		}
		if s.Git.FilesOf(commit.ID)["mine"] != s.Git.FilesOf(commit.Parents[0])["mine"] {
			s.t.Error("a slipped commit was merged")
		}
	}
	s.looked[branch] = head
}

func (s *story) step1(place string, before, after []string) {
	for i := range after {
		if i < len(before) && after[i] != before[i] {
			s.landed(place, before[i], after[i])
			s.held[place][after[i]] = true
		}
	}
}

// since returns the commits of a branch that were not checked yet, oldest first.
func (s *story) since(branch string) []engine.Commit {
	var commits []engine.Commit
	for c, err := range s.Git.Objects().History(s.Git.Branch(branch)) {
		if err != nil || c.ID == s.looked[branch] || s.looked[branch] == "" {
			break
		}
		commits = append(commits, c)
	}
	slices.Reverse(commits)
	return commits
}

func (s *story) landed(place, before, after string) {
	environment, application, _ := strings.Cut(place, "/")
	parent := map[string]string{"staging": "dev/", "prod": "staging/"}[environment]
	is, released := s.order[after]
	held, stopped := s.said.Held(placeOf(place), s.Clock.Now())
	switch {
	case !released:
		s.t.Errorf("%s got %s, which was never released", place, after)
	case s.rolled[place] && s.held[place][after]:
	case stopped && !s.torn:
		s.t.Errorf("%s got %s while it stood still: %v", place, after, held)
	case is <= s.order[before]:
		s.t.Errorf("%s went from %s back to %s", place, before, after)
	case parent != "" && !s.held[parent+application][after]:
		s.t.Errorf("%s got %s, which %s never held", place, after, parent+application)
	case s.refused[place][after] && !s.torn:
		s.t.Errorf("%s got %s, which a person refused", place, after)
	}
}
