package modeltest

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// check checks the invariants.
func (s *story) check() {
	s.t.Helper()
	open := openPullRequests(s)
	checkOneOpenEach(s, open)
	checkForkUntouched(s, open)
	checkTitles(s, open)
	checkUserCommits(s)
	checkHeads(s)
	readFailures(s)
	for _, branch := range s.branches() {
		checkLandings(s, branch)
	}
}

// checkOneOpenEach checks that each branch has at most one open pull request of ours.
func checkOneOpenEach(s *story, open []scm.PullRequest) {
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

// checkForkUntouched checks that the pull request of a fork stays open, whatever its branch is called.
func checkForkUntouched(s *story, open []scm.PullRequest) {
	s.t.Helper()
	theirs := func(pr scm.PullRequest) bool { return pr.Number == s.fork }
	if s.fork != 0 && !slices.ContainsFunc(open, theirs) {
		s.t.Errorf("the pull request #%d of a fork is no longer open", s.fork)
	}
}

// checkTitles checks that the title of a user is kept.
func checkTitles(s *story, open []scm.PullRequest) {
	s.t.Helper()
	for _, pr := range open {
		if title, set := s.titles[pr.Number]; set && pr.Title != title {
			s.t.Errorf("the title of #%d is %q, and a user wrote %q", pr.Number, pr.Title, title)
		}
	}
}

// checkUserCommits checks that commits of users are neither overwritten nor deleted.
func checkUserCommits(s *story) {
	s.t.Helper()
	for branch, commit := range s.userHeads {
		if !containsCommit(s, s.head(branch), commit) {
			s.t.Errorf("the commit of a user on %s is gone", branch)
		}
	}
}

func containsCommit(s *story, head, commit string) bool {
	for _, c := range line(s.Store, head, "") {
		if c.ID == commit {
			return true
		}
	}
	return false
}

// checkLandings checks what landed since the last check: it is newer than before, was in
// the parent before, was released, and was not refused; or it is what a rollback names, and
// the target had it.
func checkLandings(s *story, branch string) {
	s.t.Helper()
	head := s.head(branch)
	if s.verifiedHeads[branch] == "" {
		s.verifiedHeads[branch] = head
	}
	commits := line(s.Store, head, s.verifiedHeads[branch])
	for _, commit := range slices.Backward(commits) {
		if len(commit.Parents) == 0 {
			continue
		}
		before := commit.Parents[0]
		for _, target := range targets() {
			if branchOf(s, target) == branch {
				checkMoves(s, target, commit, referencesIn(s, before, target), referencesIn(s, commit.ID, target))
			}
		}
		checkOnlyReferences(s, branch, s.Store.Files(before), s.Store.Files(commit.ID))
	}
	s.verifiedHeads[branch] = head
}

// checkOnlyReferences checks that promoter changes references only, byte for byte.
func checkOnlyReferences(s *story, branch string, before, after map[string]string) {
	s.t.Helper()
	for _, target := range targets() {
		path := target + ".yaml"
		if now := after[path]; branchOf(s, target) == branch && now == list(strings.Split(strings.TrimPrefix(strings.TrimSpace(now), "- "), "\n- ")...) {
			delete(before, path)
			delete(after, path)
		}
	}
	if !maps.Equal(before, after) {
		s.t.Errorf("more than references changed on %s:\n%q\n%q", branch, before, after)
	}
}

// checkMoves checks what a commit changed in a target.
func checkMoves(s *story, target string, commit repo.Commit, before, after []string) {
	s.t.Helper()
	var moved []string
	parent, unlikePromotion := parentTarget(target), false // a return may also be newer than what a user requested
	for i := range after {
		if i < len(before) && after[i] != before[i] {
			moved = append(moved, after[i])
			was := s.minorOf[before[i]]
			unlikePromotion = unlikePromotion || was == unselected || s.minorOf[after[i]] <= was || parent != "" && !s.held[parent][after[i]]
		}
	}
	returned := unlikePromotion && returns(s, target, moved)
	for i := range after {
		if i < len(before) && after[i] != before[i] {
			checkMove(s, target, commit, before[i], after[i], returned)
			s.held[target][after[i]] = true
		}
	}
	if len(moved) > 0 {
		checkBypassed(s, target, commit)
		checkParentHealth(s, target, commit, moved, after, returned)
	}
}

// parentTarget returns the target that another one follows; empty: none.
func parentTarget(target string) string {
	environment, application, _ := strings.Cut(target, "/")
	parent, found := map[string]string{"staging": "dev/", "prod": "staging/"}[environment]
	if !found {
		return ""
	}
	return parent + application
}

// checkMove checks one reference that changed in a target. It is returned if promoter returned to
// what was there before a failure.
func checkMove(s *story, target string, commit repo.Commit, before, after string, returned bool) {
	s.t.Helper()
	parent := parentTarget(target)
	is, released := s.minorOf[after]
	held, stopped := s.stored.Held(targetOf(target), s.Clock.Now())
	if stopped && held.Freeze && bypassed(s, commit, target, verb.BypassFreeze) {
		held, stopped = s.stored.HeldWithoutFreezes(targetOf(target), s.Clock.Now())
	}
	rejection, rejected := rejectedIn(s, target, after)
	named := namedFor(s, target, after)
	if s.verified && !s.signed[digestOf(after)] {
		s.t.Errorf("%s got %s, which is not signed", target, after)
	}
	switch {
	case slices.Contains(s.rolledBack[target], after) && s.held[target][after]:
		// A rollback returns to any earlier state of this target, also to one of a user.
	case (!released || is == unselected) && !(returned && s.held[target][after]): // what a user had written is returned to
		s.t.Errorf("%s got %s, which was never released", target, after)
	case stopped && !s.interleaved && !mayResume(s, held):
		s.t.Errorf("%s got %s while it was on hold: %v", target, after, held)
	case rejected && !s.interleaved && !resumedSince(s, target, rejection.At):
		s.t.Errorf("%s got %s, which was rejected: %v", target, after, rejection)
	case returned && s.held[target][after] && (!s.refused[target][after] || s.interleaved):
	case is <= s.minorOf[before] && !named && s.interleaved && s.held[target][after]:
		// A rollback landed before the user resumed the target in the middle of the run.
	case is <= s.minorOf[before] && !named:
		s.t.Errorf("%s went back from %s to %s", target, before, after)
	case parent != "" && !s.held[parent][after] && !named:
		s.t.Errorf("%s got %s, which %s never had", target, after, parent)
	case s.refused[target][after] && !s.interleaved:
		s.t.Errorf("%s got %s, which a user refused", target, after)
	}
}

// checkParentHealth checks that a target that requires that its parent is healthy got nothing that
// was never healthy there, that failed there, or that was rejected there, unless a user bypasses
// that.
func checkParentHealth(s *story, target string, commit repo.Commit, moved, after []string, returned bool) {
	s.t.Helper()
	parent := parentTarget(target)
	back := slices.ContainsFunc(moved, func(reference string) bool { return slices.Contains(s.rolledBack[target], reference) })
	if parent == "" || returned || back || s.interleaved {
		return
	}
	together := after
	if named := namedFor(s, target, moved...); named {
		together = moved
	} else {
		for _, reference := range moved {
			if rejection, rejected := rejectedIn(s, parent, reference); rejected && !resumedSince(s, parent, rejection.At) {
				s.t.Errorf("%s got %s, which was rejected in %s: %v", target, reference, parent, rejection)
			}
		}
	}
	if !requiresHealthy(s.configured, targetOf(target).Environment) || bypassed(s, commit, target, verb.BypassHealthy) {
		return
	}
	if !wasHealthy(s, parent, together) {
		s.t.Errorf("%s got %v, which were never healthy in %s", target, together, parent)
	}
	if failedIn(s, parent, after) && s.resumes[targetOf(parent)].IsZero() {
		s.t.Errorf("%s got %v, which failed in %s", target, after, parent)
	}
}

// rejectedIn returns the rejection of a reference in a target, as it was before the step.
func rejectedIn(s *story, target, reference string) (state.Rejection, bool) {
	for _, pinned := range snapshotOf(s, reference) {
		return s.stored.Rejected(targetOf(target), pinned.Repository, pinned.Version)
	}
	return state.Rejection{}, false
}

// namedFor reports whether a user requested all references for a target before the step.
func namedFor(s *story, target string, references ...string) bool {
	request := s.stored.At(targetOf(target)).Request
	return request != nil && !slices.ContainsFunc(references, func(r string) bool { return !slices.Contains(request.With, r) })
}

// acceptCurrent accepts the current content of the branches, after checking it.
func acceptCurrent(s *story) {
	s.t.Helper()
	readFailures(s) // a user may act in the middle of a run
	for _, branch := range s.branches() {
		checkLandings(s, branch)
	}
	for _, target := range targets() {
		for _, held := range currentReferences(s, target) {
			s.held[target][held] = true
		}
	}
}

// acceptUserChange accepts a change of a user to the branches without checking the
// invariants.
func acceptUserChange(s *story) {
	s.t.Helper()
	for _, branch := range s.branches() {
		s.verifiedHeads[branch] = s.head(branch)
	}
	acceptCurrent(s)
}

// checkMerge checks that a merge by promoter passed the gates of the config and those of
// the forge, for exactly the merged head, and that it was no draft.
func checkMerge(s *story, number int, head string) {
	s.t.Helper()
	pr := s.seen[number]
	if s.interleaved || pr.Number == 0 {
		return // it was opened or changed in this run
	}
	config, gated := s.Store.Files(s.head("main"))[repo.ConfigFile], strings.HasPrefix(pr.Head.Branch, "promoter/prod/")
	may := func(condition string) bool {
		return slices.ContainsFunc(targets(), func(target string) bool { return strings.HasPrefix(target, "prod/") && mayBypass(s, target, condition) })
	}
	wantsCI := gated && strings.Contains(config, gateChecks) && !may(verb.BypassChecks) || s.guarded && pr.Base == "main"
	switch {
	case s.queued && pr.Base == "main":
		s.t.Errorf("#%d was merged past the merge queue", number)
	case pr.Draft:
		s.t.Errorf("#%d was merged, which is a draft", number)
	case wantsCI && s.reported[head] != scm.CheckPassed:
		s.t.Errorf("#%d was merged at %s, where ci is %q", number, head, s.reported[head])
	case gated && strings.Contains(config, gateApprovals) && !may(verb.BypassApprovals) && !approved(s, number, head):
		s.t.Errorf("#%d was merged at %s without an approval: %v", number, head, s.reviewed[number])
	}
}

// approved reports whether a user who counts approved a head, and none objects.
func approved(s *story, number int, head string) bool {
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
