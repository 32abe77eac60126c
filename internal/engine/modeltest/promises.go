package modeltest

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/scm"
)

// check holds the promises.
func (s *story) check() {
	s.t.Helper()
	open := s.listed()
	s.oneEach(open)
	s.notOurs(open)
	s.wordsStay(open)
	s.handsOff()
	for _, branch := range s.branches() {
		s.forward(branch)
	}
}

// oneEach: at most one open pull request of ours for each branch.
func (s *story) oneEach(open []scm.PullRequest) {
	s.t.Helper()
	count := map[string]int{}
	for _, pr := range open {
		if pr.Head.Own {
			if count[pr.Head.Branch]++; count[pr.Head.Branch] > 1 {
				s.t.Errorf("two open pull requests of %s", pr.Head.Branch)
			}
		}
	}
}

// notOurs: what a stranger opened stays as it is, whatever its branch is called.
func (s *story) notOurs(open []scm.PullRequest) {
	s.t.Helper()
	theirs := func(pr scm.PullRequest) bool { return pr.Number == s.fork }
	if s.fork != 0 && !slices.ContainsFunc(open, theirs) {
		s.t.Errorf("the pull request #%d of a fork is not open any more", s.fork)
	}
}

// wordsStay: what a person wrote as the title is not written over.
func (s *story) wordsStay(open []scm.PullRequest) {
	s.t.Helper()
	for _, pr := range open {
		if title, set := s.titled[pr.Number]; set && pr.Title != title {
			s.t.Errorf("the title of #%d is %q, and a person wrote %q", pr.Number, pr.Title, title)
		}
	}
}

// handsOff: what a person committed is neither overwritten nor taken away.
func (s *story) handsOff() {
	s.t.Helper()
	for branch, commit := range s.theirs {
		if !s.contains(s.head(branch), commit) {
			s.t.Errorf("the commit of a person on %s is gone", branch)
		}
	}
}

func (s *story) contains(head, commit string) bool {
	for _, c := range line(s.Store, head, "") {
		if c.ID == commit {
			return true
		}
	}
	return false
}

// forward: what promoter landed since is newer than what was there, was in the
// parent before, was released, and was not refused.
func (s *story) forward(branch string) {
	s.t.Helper()
	head := s.head(branch)
	if s.looked[branch] == "" {
		s.looked[branch] = head
	}
	commits := line(s.Store, head, s.looked[branch])
	for _, commit := range slices.Backward(commits) {
		if len(commit.Parents) == 0 {
			continue
		}
		before := commit.Parents[0]
		for _, target := range places() {
			if s.branchOf(target) == branch {
				s.moved(target, s.holds(before, target), s.holds(commit.ID, target))
			}
		}
		s.onlyReferences(branch, s.Store.Files(before), s.Store.Files(commit.ID))
	}
	s.looked[branch] = head
}

// onlyReferences: what promoter lands differs in references alone, byte for byte.
func (s *story) onlyReferences(branch string, before, after map[string]string) {
	s.t.Helper()
	for _, target := range places() {
		path := target + ".yaml"
		if now := after[path]; s.branchOf(target) == branch && now == list(strings.Split(strings.TrimPrefix(strings.TrimSpace(now), "- "), "\n- ")...) {
			delete(before, path)
			delete(after, path)
		}
	}
	if !maps.Equal(before, after) {
		s.t.Errorf("more than references landed on %s:\n%q\n%q", branch, before, after)
	}
}

func (s *story) moved(target string, before, after []string) {
	s.t.Helper()
	for i := range after {
		if i < len(before) && after[i] != before[i] {
			s.landed(target, before[i], after[i])
			s.held[target][after[i]] = true
		}
	}
}

func (s *story) landed(target, before, after string) {
	s.t.Helper()
	environment, application, _ := strings.Cut(target, "/")
	parent := map[string]string{"staging": "dev/", "prod": "staging/"}[environment]
	is, released := s.order[after]
	held, stopped := s.said.Held(placeOf(target), s.Clock.Now())
	switch {
	case !released:
		s.t.Errorf("%s got %s, which was never released", target, after)
	case s.rolled[target] && s.held[target][after]:
	case stopped && !s.torn && !s.mayResume(held):
		s.t.Errorf("%s got %s while it stood still: %v", target, after, held)
	case is <= s.order[before]:
		s.t.Errorf("%s went from %s back to %s", target, before, after)
	case parent != "" && !s.held[parent+application][after]:
		s.t.Errorf("%s got %s, which %s never held", target, after, parent+application)
	case s.refused[target][after] && !s.torn:
		s.t.Errorf("%s got %s, which a person refused", target, after)
	}
}

// byPerson takes what stands on the branches as the state to go on from.
func (s *story) byPerson() {
	s.t.Helper()
	for _, branch := range s.branches() {
		s.forward(branch)
	}
	for _, target := range places() {
		for _, held := range s.present(target) {
			s.held[target][held] = true
		}
	}
}

// mine takes what a person did to the branches without asking whether it keeps the
// promises.
func (s *story) mine() {
	s.t.Helper()
	for _, branch := range s.branches() {
		s.looked[branch] = s.head(branch)
	}
	s.byPerson()
}
