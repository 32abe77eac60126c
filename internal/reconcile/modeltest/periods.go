package modeltest

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/repo"
	"promoter/internal/verb"
)

// arrival is between which times a commit came to a branch.
type arrival struct{ after, before time.Time }

// noteArrivals notes which commits came to the branches since the last time.
func noteArrivals(s *story) {
	now := s.Clock.Now()
	for _, branch := range s.branches() {
		for id := s.head(branch); id != ""; {
			if _, known := s.arrived[id]; known {
				break
			}
			s.arrived[id] = arrival{s.noted, now}
			id = parentOf(s, id)
		}
	}
	s.noted = now
}

// interrupt takes a version out of a target that others soak for, and brings it back after a while: a revert, and the
// revert of the revert.
func interrupt(s *story) {
	required := requiredIn(s, func(p parent) bool { return p.Soak > 0 })
	if len(required) == 0 {
		s.skip()
		return
	}
	target := oneOf(s.random, required...)
	acceptCurrent(s)
	now := currentReferences(s, target)
	i := s.random.IntN(len(now))
	repository, _, _ := strings.Cut(now[i], ":")
	older := reference(repository, "1.0.0")
	if s.minorOf[now[i]] <= 0 {
		s.skip()
		return
	}
	s.log("a user reverts %s in %s for a while", now[i], target)
	replace(s, target, now[i], older)
	acceptUserChange(s)
	s.Clock.Add(time.Duration(40+s.random.IntN(50)) * time.Minute)
	if s.random.IntN(2) == 0 {
		s.check()
		s.readState()
		s.run()
		s.check()
	}
	acceptCurrent(s)
	if slices.Contains(currentReferences(s, target), older) {
		s.log("and brings it back")
		delete(s.refused[target], now[i]) // the later act counts
		replace(s, target, older, now[i])
	}
	acceptUserChange(s)
}

// checkSoaked checks that references that a target got were in a parent for its soak, without interruption.
func checkSoaked(s *story, target string, parent parent, commit repo.Commit, references []string) {
	s.t.Helper()
	skew := 2 * time.Minute
	if s.skewed {
		skew = 40 * time.Minute // between two processes
	}
	if parent.Soak <= skew || bypassed(s, commit, target, verb.BypassSoak) {
		return
	}
	if longest := longestPeriod(s, parent.target, references); longest < parent.Soak-skew {
		s.t.Errorf("%s got %v, which were in %s for at most %s without interruption, with a soak of %s",
			target, references, parent.target, longest, parent.Soak)
	}
}

// longestPeriod returns for how long a target at most had references together without interruption.
func longestPeriod(s *story, target string, references []string) (longest time.Duration) {
	until := latest(s)
	for _, commit := range line(s.Store, s.head(branchOf(s, target)), "") {
		came, known := s.arrived[commit.ID]
		if !known {
			came = arrival{s.noted, latest(s)}
		}
		there := digestsOf(referencesIn(s, commit.ID, target))
		missing := func(digest string) bool { return !slices.Contains(there, digest) }
		if slices.ContainsFunc(digestsOf(references), missing) {
			until = came.before
			continue
		}
		longest = max(longest, until.Sub(came.after))
	}
	return longest
}
