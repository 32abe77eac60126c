package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/state"
)

// openPullRequests returns the open pull requests of everyone. A failure of the server may
// hit the story itself once.
func openPullRequests(s *story) []scm.PullRequest {
	s.t.Helper()
	open, err := s.repo.PullRequests().Open(s.t.Context())
	if err != nil {
		open, err = s.repo.PullRequests().Open(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for _, pr := range open {
		s.seen[pr.Number] = pr
	}
	return open
}

// anyPullRequest returns a random open pull request of ours.
func anyPullRequest(s *story) (scm.PullRequest, bool) {
	open := slices.DeleteFunc(openPullRequests(s), func(pr scm.PullRequest) bool { return !pr.Author.Same(s.repo.Info().Self) })
	if len(open) == 0 {
		s.skip()
		return scm.PullRequest{}, false
	}
	slices.SortFunc(open, func(a, b scm.PullRequest) int { return a.Number - b.Number })
	return open[s.random.IntN(len(open))], true
}

// merge merges a pull request as a user, by a random method.
func (s *story) merge() {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	acceptCurrent(s)
	method := []string{"merge", "squash", "rebase", "fast-forward"}[s.random.IntN(4)]
	if bare := s.random.IntN(3) == 0; s.Bare != nil {
		s.Bare(bare)
	}
	if method == "fast-forward" && !containsCommit(s, pr.Head.Commit, s.head(pr.Base)) {
		s.skip()
		return
	}
	s.log("a user merges #%d (%s)", pr.Number, method)
	if pr.Draft || !s.Clean(pr.Base, pr.Head.Commit) {
		s.log("  which cannot be merged")
		return
	}
	s.People.Merge(s.t, scmtest.Ann, pr.Number, method)
	delete(s.userHeads, pr.Head.Branch)
	acceptUserChange(s)
}

func (s *story) close() {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	s.log("a user closes #%d", pr.Number)
	delete(s.openAgain, pr.Number)
	mayCancel(s, pr)
	s.People.Close(s.t, scmtest.Ann, pr.Number)
	if s.userHeads[pr.Head.Branch] != "" {
		return // with a user's commit, a close is no decision about versions
	}
	for _, target := range targets() {
		if s.targetOf(target).Environment != strings.Split(pr.Head.Branch, "/")[1] {
			continue
		}
		now, base := currentReferences(s, target), referencesIn(s, parentOf(s, pr.Head.Commit), target)
		if back := s.stateAt(s.head(stateBranch)).At(s.targetOf(target)).Rollback; back != nil {
			base = referencesIn(s, pr.Head.Commit, target) // a close of its pull request cancels it, and refuses nothing
		}
		for i, held := range referencesIn(s, pr.Head.Commit, target) {
			if held != base[i] && !slices.Contains(now, held) {
				s.refused[target][held] = true
				delete(s.reopened[target], held)
			}
		}
	}
}

// mayCancel notes that a user closed a pull request, by itself or with its branch, which cancels a rollback.
func mayCancel(s *story, pr scm.PullRequest) {
	for _, target := range inHead(s, pr) {
		s.closed[target] = true
	}
}

// closeAsBot closes a pull request as a bot, which decides nothing where the forge shows that it is one.
func closeAsBot(s *story) {
	if pr, found := anyPullRequest(s); found {
		s.log("a bot closes #%d", pr.Number)
		delete(s.openAgain, pr.Number)
		for _, target := range targets() {
			for _, brought := range referencesIn(s, pr.Head.Commit, target) {
				s.botCloses[target+" "+digestOf(brought)]++
			}
		}
		s.People.Close(s.t, scmtest.Robot, pr.Number)
	}
}

// reopenAsBot reopens a pull request as a bot.
func reopenAsBot(s *story) {
	open := openPullRequests(s)
	for _, number := range slices.Sorted(maps.Keys(s.seen)) {
		pr := s.seen[number]
		busy := slices.ContainsFunc(open, func(o scm.PullRequest) bool { return o.Head.Branch == pr.Head.Branch })
		if pr.Head.Own && !busy && closed(s, &pr) && s.head(pr.Head.Branch) == pr.Head.Commit && pr.Closer.Login != "" {
			s.log("a bot reopens #%d", pr.Number)
			s.People.Reopen(s.t, scmtest.Robot, pr.Number)
			undoUnobserved(s, pr)
			return
		}
	}
	s.skip()
}

// undoUnobserved forgets a close that no reconciliation observed before its pull request was open again: it leaves
// nothing that can be observed without asking for the history of every open pull request.
func undoUnobserved(s *story, pr scm.PullRequest) {
	now := s.stateAt(s.head(stateBranch))
	closed := func(r state.Rejection) bool { return r.Number == pr.Number }
	for _, target := range inHead(s, pr) {
		if slices.ContainsFunc(now.At(s.targetOf(target)).Rejections, closed) {
			continue
		}
		for _, held := range referencesIn(s, pr.Head.Commit, target) {
			delete(s.refused[target], held)
		}
	}
}

// checkClosedAgain checks that promoter does not close a pull request that a user reopened because it was closed before.
func checkClosedAgain(s *story, done outcome.Effect) {
	s.t.Helper()
	if done.Action != outcome.ActionClosed || s.interleaved || done.Open == nil || !s.openAgain[done.Open.Number] {
		return
	}
	if strings.Contains(done.Reason.Message, fmt.Sprintf("(#%d)", done.Open.Number)) {
		s.t.Errorf("#%d was closed again: %s", done.Open.Number, done.Reason)
	}
}

func parentOf(s *story, id string) string {
	if parents := s.Store.Commit(id).Parents; len(parents) > 0 {
		return parents[0]
	}
	return id
}

// reopen reopens a pull request, with its branch.
func (s *story) reopen() {
	open := openPullRequests(s)
	if len(s.seen) == 0 {
		s.skip()
		return
	}
	numbers := slices.Sorted(maps.Keys(s.seen))
	pr := s.seen[numbers[s.random.IntN(len(numbers))]]
	now := s.head(pr.Head.Branch)
	busy := slices.ContainsFunc(open, func(o scm.PullRequest) bool { return o.Head.Branch == pr.Head.Branch })
	if !pr.Head.Own || busy || !closed(s, &pr) || now != "" && now != pr.Head.Commit {
		s.skip()
		return
	}
	s.log("a user reopens #%d", pr.Number)
	s.People.Reopen(s.t, scmtest.Ann, pr.Number)
	s.openAgain[pr.Number] = true
	for _, target := range targets() {
		for _, held := range referencesIn(s, pr.Head.Commit, target) {
			delete(s.refused[target], held)
			s.reopened[target][held] = true
		}
	}
}

// closed reports whether a pull request was closed without a merge, and updates it.
func closed(s *story, pr *scm.PullRequest) bool {
	all, err := s.repo.PullRequests().Closed(s.t.Context(), pr.Head.Branch, 100)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(all, func(o scm.PullRequest) bool { return o.Number == pr.Number })
	if i < 0 || all[i].State != scm.StateClosed {
		return false
	}
	*pr = all[i]
	return true
}

// commitToHead pushes a commit of a user to a branch of ours.
func commitToHead(s *story) {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	s.log("a user commits to %s", pr.Head.Branch)
	s.userHeads[pr.Head.Branch] = s.commit(pr.Head.Branch, "mine", "x\n", "Mine")
}

// openFromFork opens a pull request that looks like ours from a fork.
func openFromFork(s *story) {
	if s.fork != 0 {
		s.skip()
		return
	}
	s.log("a fork opens a pull request from a branch with our name")
	s.fork = s.People.Fork(s.t, scmtest.Eve, "promoter/staging/shop", "main")
}

// retarget changes the base of a pull request, or changes it back.
func retarget(s *story) {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	const other = "other"
	if s.head(other) == "" {
		s.write(other, "README", "z\n")
	}
	base := other
	if pr.Base == base {
		if base = "main"; len(inHead(s, pr)) > 0 {
			base = branchOf(s, inHead(s, pr)[0])
		}
	}
	s.log("a user changes the base of #%d to %s", pr.Number, base)
	s.People.Retarget(s.t, scmtest.Ann, pr.Number, base)
}

func (s *story) draft() {
	if pr, found := anyPullRequest(s); found {
		s.log("a user makes #%d a draft: %v", pr.Number, !pr.Draft)
		s.People.Draft(s.t, scmtest.Ann, pr.Number, !pr.Draft)
		delete(s.titles, pr.Number) // some forges change the title
	}
}

func deleteBranch(s *story) {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	s.log("a user deletes %s", pr.Head.Branch)
	mayCancel(s, pr)
	delete(s.openAgain, pr.Number)
	s.Git.Delete(s.t, scmtest.Ann, pr.Head.Branch)
	delete(s.userHeads, pr.Head.Branch)
}

// review approves, objects, or comments as a user.
func (s *story) review() {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	who := []string{scmtest.Ann, scmtest.Bob, scmtest.Eve}[s.random.IntN(3)]
	states := []scm.ReviewState{scm.Approved, scm.Approved, scm.Commented, scm.ChangesRequested}
	reviewAs(s, pr, who, states[s.random.IntN(len(states))])
}

// pass makes everything pass that gates may require of a pull request.
func pass(s *story) {
	pr, found := anyPullRequest(s)
	if !found {
		return
	}
	s.log("ci of #%d: passed", pr.Number)
	s.People.Status(s.t, scmtest.Robot, pr.Head.Commit, ci, scm.CheckPassed)
	s.reported[pr.Head.Commit] = scm.CheckPassed
	for _, who := range []string{scmtest.Ann, scmtest.Bob} {
		reviewAs(s, pr, who, scm.Approved)
	}
}

func reviewAs(s *story, pr scm.PullRequest, who string, state scm.ReviewState) {
	s.log("%s reviews #%[3]d: %[2]s", who, state, pr.Number)
	s.People.Review(s.t, who, pr.Number, state)
	if s.reviewed[pr.Number] == nil {
		s.reviewed[pr.Number] = map[string]review{}
	}
	if state != scm.Commented {
		s.reviewed[pr.Number][who] = review{state, pr.Head.Commit}
	}
}

// review is the last review of a user, and its head.
type review struct {
	state scm.ReviewState
	head  string
}

// retitle changes the title as a user.
func retitle(s *story) {
	if pr, found := anyPullRequest(s); found {
		s.titles[pr.Number] = fmt.Sprintf("My title %d", s.reconciliations)
		s.log("a user titles #%d %q", pr.Number, s.titles[pr.Number])
		s.People.Retitle(s.t, scmtest.Ann, pr.Number, s.titles[pr.Number])
	}
}

// comment comments as a user.
func (s *story) comment() {
	if pr, found := anyPullRequest(s); found {
		s.log("a user comments on #%d", pr.Number)
		s.People.Comment(s.t, scmtest.Bob, pr.Number, "Nice <!-- promoter -->")
	}
}

// reportCheck reports a check on a head.
func reportCheck(s *story) {
	if pr, found := anyPullRequest(s); found {
		states := []scm.CheckState{scm.CheckPassed, scm.CheckPending, scm.CheckFailed}
		state := states[s.random.IntN(len(states))]
		s.log("ci of #%d: %s", pr.Number, state)
		s.People.Status(s.t, scmtest.Robot, pr.Head.Commit, ci, state)
		s.reported[pr.Head.Commit] = state
	}
}

// requiredIn returns the targets that have to meet a condition for those that follow them.
func requiredIn(s *story, condition func(parent) bool) (required []string) {
	for _, target := range targets() {
		for _, parent := range parentsOf(s, s.configured, target) {
			if condition(parent) {
				required = append(required, parent.target)
			}
		}
	}
	return required
}

// landedCommit returns the last commit that changed the references of a target.
func landedCommit(s *story, target string) (landed string) {
	for _, commit := range line(s.Store, s.head(branchOf(s, target)), "") {
		landed = commit.ID
		if len(commit.Parents) > 0 && !slices.Equal(referencesIn(s, landed, target), referencesIn(s, commit.Parents[0], target)) {
			break
		}
	}
	return landed
}

// reportSmoke reports the check smoke on what landed, or did not.
func reportSmoke(s *story) {
	required := requiredIn(s, func(p parent) bool { return len(p.Checks) > 0 })
	if len(required) == 0 {
		s.skip()
		return
	}
	target := oneOf(s.random, required...)
	commit := landedCommit(s, target)
	if s.random.IntN(4) == 0 {
		commit = reportedCommit(s, target)
	}
	if s.Store.Commit(commit).ID == "" {
		s.skip()
		return
	}
	state := oneOf(s.random, scm.CheckPassed, scm.CheckPassed, scm.CheckPassed, scm.CheckPending, scm.CheckFailed)
	s.log("%s of %.7s: %s", smoke, commit, state)
	s.People.Status(s.t, scmtest.Robot, commit, smoke, state)
	s.smoked[commit] = s.smoked[commit] || state == scm.CheckPassed
}

// command writes a command on a pull request, open or not, ours or not, as a user who
// may or may not give commands.
func (s *story) command() {
	openPullRequests(s)
	if len(s.seen) == 0 {
		s.skip()
		return
	}
	numbers := slices.Sorted(maps.Keys(s.seen))
	pr := s.seen[numbers[s.random.IntN(len(numbers))]]
	prod, staging := s.nameOf("prod"), s.nameOf("staging")
	text := []string{
		"hold because", "resume", "unreject", "rollback", "reject because", "promote " + prod, "promote " + staging, "promote moon", "refresh", "explain", "help", "sing",
		"promote " + prod + " --bypass soak,healthy,freeze,checks,approvals incident",
	}[s.random.IntN(13)]
	who := []string{scmtest.Ann, scmtest.Ann, scmtest.Eve}[s.random.IntN(3)]
	s.log("%s comments /promoter %s on #%d", who, text, pr.Number)
	s.People.Comment(s.t, who, pr.Number, "So be it.\n\n/promoter "+text)
	target, named := promotion.ParseHead(pr.Head.Branch)
	for _, inside := range targets() {
		if strings.Contains(text, "--bypass") && who == scmtest.Ann && strings.HasPrefix(inside, "prod/") {
			s.bypassing[inside] = true
		}
	}
	if !named || !pr.Head.Own || who != scmtest.Ann {
		return
	}
	switch text {
	case "reject because": // which is later than the reopening
		delete(s.openAgain, pr.Number)
	case "rollback": // to what was there before the merge, if it was merged
		for _, inside := range targets() {
			if within(s, inside, state.Target(target)) {
				s.rolledBack[inside] = slices.AppendSeq(s.rolledBack[inside], maps.Keys(s.held[inside]))
			}
		}
	case "resume":
		forgetRollback(s, state.Target(target).Contains)
		s.resumes[state.Target(target)] = s.Clock.Now()
	case "unreject":
		forgetRefused(s, state.Target(target))
		s.unrejects[state.Target{Environment: state.All, Application: state.All}] = s.Clock.Now() // what a reject in it did everywhere
	}
}

// resumedSince reports whether a comment may resume a target, and with it end what stopped it before.
func resumedSince(s *story, target string, decided time.Time) bool {
	for wide, at := range s.resumes {
		if within(s, target, wide) && !decided.After(at) {
			return true
		}
	}
	return false
}

// allowedSince reports whether a comment may allow what users rejected in a target before.
func allowedSince(s *story, target string, decided time.Time) bool {
	for wide, at := range s.unrejects {
		if within(s, target, wide) && !decided.After(at) {
			return true
		}
	}
	return false
}

// mayResume reports whether a hold may end in the middle of a run, because of a comment
// that may not have been processed yet.
func mayResume(s *story, held state.Held) bool {
	for target, at := range s.resumes {
		if !held.Freeze && held.Problem == "" && target == held.Target && !held.At.After(at) {
			return true
		}
	}
	return false
}
