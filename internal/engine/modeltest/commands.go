package modeltest

import (
	"maps"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
)

// command lets somebody write a command below a pull request, open or not, ours or
// not. Who may not write gives none.
func (s *story) command() {
	s.listed()
	if len(s.seen) == 0 {
		s.nothing()
		return
	}
	numbers := slices.Sorted(maps.Keys(s.seen))
	pr := s.seen[numbers[s.random.IntN(len(numbers))]]
	text := []string{
		"hold because", "resume", "reject because", "promote prod", "promote staging", "promote moon", "refresh", "explain", "help", "sing",
	}[s.random.IntN(10)]
	who := []string{scmtest.Ann, scmtest.Ann, scmtest.Eve}[s.random.IntN(3)]
	s.tell("%s says /promoter %s on #%d", who, text, pr.Number)
	s.People.Comment(s.t, who, pr.Number, "So be it.\n\n/promoter "+text)
	target, named := promotion.ParseHead(pr.Head.Branch)
	if named && pr.Head.Own && text == "resume" && who == scmtest.Ann {
		s.resumed(state.Target(target))
		s.resumes[state.Target(target)] = s.Clock.Now()
	}
}

// mayResume says whether a hold may end in the middle of a run, because somebody
// said so in a comment that may not have been heard yet.
func (s *story) mayResume(held state.Held) bool {
	for target, at := range s.resumes {
		if !held.Freeze && held.Problem == "" && target == held.Place && !held.At.After(at) {
			return true
		}
	}
	return false
}
