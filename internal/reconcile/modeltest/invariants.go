package modeltest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
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
	noteArrivals(s)
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

// checkOneAboutEach checks, when promoter opened a pull request, that no other one of it is open about the same
// application of the environment.
func checkOneAboutEach(ctx context.Context, s *story, opened string) {
	s.t.Helper()
	if s.interleaved {
		return
	}
	about := aboutIn(s, opened)
	open, err := s.repo.PullRequests().Open(ctx)
	if err != nil {
		return // the forge fails in this run
	}
	for _, pr := range open {
		if !pr.Head.Own || pr.Head.Branch == opened || !pr.Author.Same(s.repo.Info().Self) {
			continue
		}
		for _, target := range aboutIn(s, pr.Head.Branch) {
			if slices.Contains(about, target) {
				s.t.Errorf("%s was opened, and #%d of %s is about %s too", opened, pr.Number, pr.Head.Branch, target)
			}
		}
	}
}

// aboutIn returns the targets that the trailers of the head of a branch name.
func aboutIn(s *story, branch string) (in []state.Target) {
	for _, landed := range promotion.ReadTrailers(s.Store.Commit(s.head(branch)).Trailers) {
		in = append(in, state.Target(landed.Target))
	}
	return in
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
		path := s.fileOf(target, after)
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
	unlikePromotion := false // a return may also be newer than what a user requested
	for i := range after {
		if i < len(before) && after[i] != before[i] {
			moved = append(moved, after[i])
			was := s.minorOf[before[i]]
			unlikePromotion = unlikePromotion || was == unselected || s.minorOf[after[i]] <= was || !heldInParents(s, target, after[i])
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
		checkBypassed(s, target, commit, after)
		checkRequested(s, target, before, after, returned)
		checkSettings(s, target, commit, moved, after, returned)
		for _, parent := range parentsOf(s, s.configured, target) {
			checkParent(s, target, parent, commit, moved, after, returned)
		}
	}
}

// heldInParents reports whether all parents of a target have or had the version of a reference: a user may have
// written its digest with another tag.
func heldInParents(s *story, target, reference string) bool {
	digest := digestOf(reference)
	same := func(other string) bool { return other == reference || digest != "" && digestOf(other) == digest }
	lacks := func(p parent) bool { return !slices.ContainsFunc(slices.Collect(maps.Keys(s.held[p.target])), same) }
	in := func(config string) bool { return !slices.ContainsFunc(parentsOf(s, config, target), lacks) }
	return in(s.configured) || s.interleaved && in(s.Store.Files(s.head("main"))[repo.ConfigFile])
}

// latest is the time of the last reconciliation in this step, for what only ends.
func latest(s *story) time.Time {
	return slices.MaxFunc(append(s.ran, s.Clock.Now()), time.Time.Compare)
}

// checkMove checks one reference that changed in a target. It is returned if promoter returned to
// what was there before a failure.
func checkMove(s *story, target string, commit repo.Commit, before, after string, returned bool) {
	s.t.Helper()
	is, released := s.minorOf[after]
	held, stopped := stoppedIn(s, target, bypassed(s, commit, target, verb.BypassFreeze))
	rejection, rejected := rejectedIn(s, target, after)
	named := namedFor(s, target, after)
	if s.verified && !s.signed[digestOf(after)] {
		s.t.Errorf("%s got %s, which is not signed", target, after)
	}
	if s.mirrored && strings.HasPrefix(target, "prod/") && !s.copied[digestOf(after)] {
		s.t.Errorf("%s got %s, which never was in the mirror", target, after)
	}
	back := returned || slices.Contains(s.rolledBack[target], after)
	if isDeleted(s, digestOf(after)) && !s.interleaved && !(back && s.unanswered) { // a rollback waits for no registry
		s.t.Errorf("%s got %s, which the registry does not have", target, after)
	}
	if left, found := leftUpstream(s, target, after); found && !s.interleaved {
		s.t.Errorf("%s got %s, which an environment upstream is leaving: %v", target, after, left)
	}
	switch {
	case slices.Contains(s.rolledBack[target], after) && s.held[target][after]:
		// A rollback returns to any earlier state of this target, also to one of a user.
	case (!released || is == unselected) && !(returned && s.held[target][after]): // what a user had written is returned to
		s.t.Errorf("%s got %s, which was never released", target, after)
	case stopped && !s.interleaved && !mayResume(s, held):
		s.t.Errorf("%s got %s while it was on hold: %v", target, after, held)
	case rejected && !s.interleaved && !allowedSince(s, target, rejection.At):
		s.t.Errorf("%s got %s, which was rejected: %v", target, after, rejection)
	case returned && s.held[target][after] && (!s.refused[target][after] || s.interleaved):
	case is <= s.minorOf[before] && !named && s.interleaved && s.held[target][after]:
		// A rollback landed before the user resumed the target in the middle of the run.
	case is <= s.minorOf[before] && s.moving && isDeleted(s, digestOf(before)):
		// Only the creation dates order digests of a moving tag, and the registry has that of the earlier one no more.
	case is <= s.minorOf[before] && (!named || wasPosted(s, target)):
		s.t.Errorf("%s went back from %s to %s", target, before, after)
	case !heldInParents(s, target, after) && !named:
		s.t.Errorf("%s got %s, which not all of its parents had, with\n%s", target, after, s.configured)
	case s.refused[target][after] && !s.interleaved:
		s.t.Errorf("%s got %s, which a user refused", target, after)
	}
}

// checkSettings checks what a landed commit brought to a target against its settings. What users request,
// roll back, and bypass is not subject to all of them.
func checkSettings(s *story, target string, commit repo.Commit, moved, after []string, returned bool) {
	s.t.Helper()
	settings, known := settingsOf(s, s.configured, target)
	if s.interleaved {
		return
	}
	if !known || settings.Propose == setting.ProposeNever {
		s.t.Errorf("%s got %v, and nothing is proposed there", target, moved)
	}
	gates := settings.Gates
	all := s.Store.Files(parentOf(s, commit.ID))
	held := all[s.folderOf("prod", all)+fileOfHold(s.targetOf(target).Application)] != goes
	if gates.Hold != nil && held {
		s.t.Errorf("%s got %v, although its file holds it", target, moved)
	}
	open := func(at time.Time) bool { return parsed(s, s.configured).WindowsOf(gates.Windows).State(at).Open }
	automatic := returned && settings.Health != nil && settings.Health.OnFailure == setting.OnFailureRollback
	if len(gates.Windows) > 0 && !automatic && !slices.ContainsFunc(s.ran, open) && !bypassed(s, commit, target, verb.BypassWindows) {
		s.t.Errorf("%s got %v outside of the windows %v, at %v", target, moved, gates.Windows, s.ran)
	}
	back := slices.ContainsFunc(moved, func(reference string) bool { return slices.Contains(s.rolledBack[target], reference) })
	if len(settings.After) > 0 || returned || back || namedFor(s, target, moved...) {
		return
	}
	application := parsed(s, s.configured).Application(s.targetOf(target).Application)
	if application.SameVersion && len(after) > 1 && s.minorOf[after[0]]/builds != s.minorOf[after[1]]/builds {
		s.t.Errorf("%s got different versions, %v", target, after)
	}
	for _, reference := range moved {
		component, _ := parsed(s, s.configured).Component(strings.TrimPrefix(snapshotOf(s, reference).Components()[0], followed))
		const skew = 40 * time.Minute // between two processes
		if age := latest(s).Sub(s.releasedAt[digestOf(reference)]); age < component.Select.MinAge-skew {
			s.t.Errorf("%s got %s, which is %s old", target, reference, age)
		}
	}
}

// wasPosted reports whether a pipeline requested the versions for a target, which is no decision of a user.
func wasPosted(s *story, target string) bool {
	request := s.stored.At(s.targetOf(target)).Request
	return request != nil && request.Posted != ""
}

// checkParent checks that a target got nothing from a parent that did not meet its conditions there,
// that failed there, or that was rejected there, unless a user bypasses that.
func checkParent(s *story, target string, parent parent, commit repo.Commit, moved, after []string, returned bool) {
	s.t.Helper()
	back := slices.ContainsFunc(moved, func(reference string) bool { return slices.Contains(s.rolledBack[target], reference) })
	if returned || back || s.interleaved {
		return
	}
	together := after
	if named := namedFor(s, target, moved...); named {
		together = moved
	} else {
		for _, reference := range moved {
			if rejection, rejected := rejectedIn(s, parent.target, reference); rejected && !allowedSince(s, parent.target, rejection.At) {
				s.t.Errorf("%s got %s, which was rejected in %s: %v", target, reference, parent.target, rejection)
			}
		}
	}
	for _, reference := range moved {
		if parent.Tagged != "" && !s.stable[digestOf(reference)] && !bypassed(s, commit, target, verb.BypassTagged) {
			s.t.Errorf("%s got %s, which never was stable", target, reference)
		}
	}
	if len(parent.Checks) > 0 && !wasSmoked(s, parent.target, together) && !bypassed(s, commit, target, verb.BypassChecks) {
		s.t.Errorf("%s got %v, for which %s never passed in %s", target, together, smoke, parent.target)
	}
	checkSoaked(s, target, parent, commit, together)
	if !parent.Healthy || bypassed(s, commit, target, verb.BypassHealthy) {
		return
	}
	if !wasHealthy(s, parent.target, together) {
		s.t.Errorf("%s got %v, which were never healthy in %s", target, together, parent.target)
	}
	if failedIn(s, parent.target, after) && s.resumes[s.targetOf(parent.target)].IsZero() {
		s.t.Errorf("%s got %v, which failed in %s", target, after, parent.target)
	}
}

// wasSmoked reports whether smoke ever passed for a commit of a target that has references together.
func wasSmoked(s *story, target string, references []string) bool {
	return slices.ContainsFunc(line(s.Store, s.head(branchOf(s, target)), ""), func(commit repo.Commit) bool {
		there := digestsOf(referencesIn(s, commit.ID, target))
		return s.smoked[commit.ID] && !slices.ContainsFunc(digestsOf(references), func(digest string) bool { return !slices.Contains(there, digest) })
	})
}

// rejectedIn returns the rejection of a reference in a target, as it was before the step.
func rejectedIn(s *story, target, reference string) (state.Rejection, bool) {
	for _, pinned := range snapshotOf(s, reference) {
		for at := range everAt(s, target) {
			rejection, rejected := s.stored.Rejected(at, pinned.Repository, pinned.Version)
			if rejected && !overruled(s, target, at, reference, rejection) {
				return rejection, true
			}
		}
	}
	return state.Rejection{}, false
}

// overruled reports whether a user acted otherwise since a close, or since a branch was moved back: reopened a
// pull request with the reference, or wrote it.
func overruled(s *story, target string, at state.Target, reference string, rejection state.Rejection) bool {
	own := func(r state.Rejection) bool { return r.Number == rejection.Number && r.At.Equal(rejection.At) }
	return rejection.EndsByLaterActs(at) && slices.ContainsFunc(s.stored.At(at).Rejections, own) &&
		(s.reopened[target][reference] || slices.Contains(digestsOf(currentReferences(s, target)), digestOf(reference)))
}

// namedFor reports whether a user requested all references for a target before the step.
func namedFor(s *story, target string, references ...string) bool {
	request := s.stored.At(s.targetOf(target)).Request
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
	noteArrivals(s)
}

// checkMerge checks that a merge by promoter passed the gates of the config and those of
// the forge, for exactly the merged head, and that it was no draft.
func checkMerge(s *story, number int, head string) {
	s.t.Helper()
	pr := s.seen[number]
	if s.interleaved || pr.Number == 0 {
		return // it was opened or changed in this run
	}
	gates, known := gatesOf(s, pr)
	may := func(condition string) bool {
		return slices.ContainsFunc(inHead(s, pr), func(target string) bool { return mayBypass(s, target, condition) })
	}
	wantsCI := len(gates.Gates.Checks) > 0 && !may(verb.BypassChecks) || s.guarded && pr.Base == "main"
	switch {
	case s.queued && pr.Base == "main":
		s.t.Errorf("#%d was merged past the merge queue", number)
	case pr.Draft:
		s.t.Errorf("#%d was merged, which is a draft", number)
	case !known || gates.Land != setting.LandAutomerge:
		s.t.Errorf("#%d was merged, and users merge in %s", number, gates.Name)
	case wantsCI && s.reported[head] != scm.CheckPassed:
		s.t.Errorf("#%d was merged at %s, where ci is %q", number, head, s.reported[head])
	case gates.Gates.Approvals != nil && !may(verb.BypassApprovals) && !approved(s, number, head):
		s.t.Errorf("#%d was merged at %s without an approval: %v", number, head, s.reviewed[number])
	}
}

// inHead returns the targets that a pull request may be about.
func inHead(s *story, pr scm.PullRequest) (in []string) {
	target, ours := promotion.ParseHead(pr.Head.Branch)
	for _, one := range targets() {
		if ours && within(s, one, state.Target(target)) {
			in = append(in, one)
		}
	}
	return in
}

// bringTheSame reports whether two heads change the same files to the same content.
func bringTheSame(s *story, a, b string) bool {
	brings := func(head string) map[string]string {
		commit := s.Store.Commit(head)
		if len(commit.Parents) != 1 {
			return nil
		}
		before, changed := s.Store.Files(commit.Parents[0]), map[string]string{}
		for path, content := range s.Store.Files(head) {
			if before[path] != content {
				changed[path] = content
			}
		}
		return changed
	}
	changed := brings(b)
	return len(changed) > 0 && maps.Equal(brings(a), changed)
}

// gatesOf returns the settings of a pull request in the config now. Those of gates are the same for all
// applications.
func gatesOf(s *story, pr scm.PullRequest) (config.Environment, bool) {
	s.t.Helper()
	in := inHead(s, pr)
	if len(in) == 0 {
		return config.Environment{}, false
	}
	return settingsOf(s, s.Store.Files(s.head("main"))[repo.ConfigFile], in[0])
}

// approved reports whether a user who counts approved a head, or another one that brought the same, and none objects.
func approved(s *story, number int, head string) bool {
	approvals := 0
	for _, who := range []string{scmtest.Ann, scmtest.Bob} {
		switch said := s.reviewed[number][who]; {
		case said.state == scm.ChangesRequested:
			return false
		case said.state == scm.Approved && (said.head == head || bringTheSame(s, said.head, head)):
			approvals++
		}
	}
	return approvals > 0
}
