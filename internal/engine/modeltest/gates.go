package modeltest

import (
	"strings"

	"promoter/internal/engine"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// mayMerge: what promoter merges has passed the gates of the config and those of
// the forge, by the very head that was merged, and was nobody's draft.
func (s *story) mayMerge(number int, head string) {
	s.t.Helper()
	pr := s.seen[number]
	if s.torn || pr.Number == 0 {
		return // it was opened or changed in this very run
	}
	config, gated := s.Store.Files(s.head("main"))[engine.ConfigFile], strings.HasPrefix(pr.Head.Branch, "promoter/prod/")
	switch wantsCI := gated && strings.Contains(config, gateChecks) || s.guarded && pr.Base == "main"; {
	case s.queued && pr.Base == "main":
		s.t.Errorf("#%d was merged past the merge queue", number)
	case pr.Draft:
		s.t.Errorf("#%d was merged, which is a draft", number)
	case wantsCI && s.reported[head] != scm.CheckPassed:
		s.t.Errorf("#%d was merged at %s, of which ci says %q", number, head, s.reported[head])
	case gated && strings.Contains(config, gateApprovals) && !s.approved(number, head):
		s.t.Errorf("#%d was merged at %s without an approval: %v", number, head, s.reviewed[number])
	}
}

// approved says whether somebody who counts approved a head, and nobody objects.
func (s *story) approved(number int, head string) bool {
	approvals := 0
	for _, who := range []string{scmtest.Ann, scmtest.Bob} {
		switch said := s.reviewed[number][who]; {
		case said.state == scm.ChangesRequested:
			return false
		case said.state == scm.Approved && said.head == head:
			approvals++
		}
	}
	return approvals > 0
}
