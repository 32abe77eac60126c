package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// listed returns the open pull requests of everybody. What went wrong at the server
// may hit the story itself once.
func (s *story) listed() []scm.PullRequest {
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

// some returns an open pull request of ours by chance.
func (s *story) some() (scm.PullRequest, bool) {
	open := slices.DeleteFunc(s.listed(), func(pr scm.PullRequest) bool { return !pr.Author.Same(s.repo.Info().Self) })
	if len(open) == 0 {
		s.nothing()
		return scm.PullRequest{}, false
	}
	slices.SortFunc(open, func(a, b scm.PullRequest) int { return a.Number - b.Number })
	return open[s.random.IntN(len(open))], true
}

// merge lets a person merge, with whatever they like.
func (s *story) merge() {
	pr, found := s.some()
	if !found {
		return
	}
	s.byPerson()
	method := []string{"merge", "squash", "rebase", "fast-forward"}[s.random.IntN(4)]
	if bare := s.random.IntN(3) == 0; s.Bare != nil {
		s.Bare(bare)
	}
	if method == "fast-forward" && !s.contains(pr.Head.Commit, s.head(pr.Base)) {
		s.nothing()
		return
	}
	s.tell("a person merges #%d (%s)", pr.Number, method)
	if pr.Draft || !s.Clean(pr.Base, pr.Head.Commit) {
		s.tell("  which cannot be merged")
		return
	}
	s.People.Merge(s.t, scmtest.Ann, pr.Number, method)
	delete(s.theirs, pr.Head.Branch) // it served
	s.mine()
}

func (s *story) close() {
	pr, found := s.some()
	if !found {
		return
	}
	s.tell("a person closes #%d", pr.Number)
	s.People.Close(s.t, scmtest.Ann, pr.Number)
	if s.theirs[pr.Head.Branch] != "" {
		return // what a person made of it is no answer about versions
	}
	for _, target := range places() {
		if !strings.HasPrefix(target, strings.Split(pr.Head.Branch, "/")[1]+"/") {
			continue
		}
		now, base := s.present(target), s.holds(s.parent(pr.Head.Commit), target)
		for i, held := range s.holds(pr.Head.Commit, target) {
			if held != base[i] && !slices.Contains(now, held) {
				s.refused[target][held] = true
			}
		}
	}
}

func (s *story) parent(id string) string {
	if parents := s.Store.Commit(id).Parents; len(parents) > 0 {
		return parents[0]
	}
	return id
}

// reopen opens a closed pull request again, with its branch.
func (s *story) reopen() {
	open := s.listed()
	if len(s.seen) == 0 {
		s.nothing()
		return
	}
	numbers := slices.Sorted(maps.Keys(s.seen))
	pr := s.seen[numbers[s.random.IntN(len(numbers))]]
	now := s.head(pr.Head.Branch)
	busy := slices.ContainsFunc(open, func(o scm.PullRequest) bool { return o.Head.Branch == pr.Head.Branch })
	if !pr.Head.Own || busy || !s.closed(&pr) || now != "" && now != pr.Head.Commit {
		s.nothing()
		return
	}
	s.tell("a person opens #%d again", pr.Number)
	s.People.Reopen(s.t, scmtest.Ann, pr.Number)
	for _, target := range places() {
		for _, held := range s.holds(pr.Head.Commit, target) {
			delete(s.refused[target], held)
		}
	}
}

// closed says whether a pull request was closed and not merged, and brings it up
// to date.
func (s *story) closed(pr *scm.PullRequest) bool {
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

// slip pushes a person's commit to a branch of ours.
func (s *story) slip() {
	pr, found := s.some()
	if !found {
		return
	}
	s.tell("a person commits to %s", pr.Head.Branch)
	s.theirs[pr.Head.Branch] = s.commit(pr.Head.Branch, "mine", "x\n", "Mine")
}

// forge opens a pull request that pretends to be ours.
func (s *story) forge() {
	if s.fork != 0 {
		s.nothing()
		return
	}
	s.tell("a fork opens a pull request from a branch with our name")
	s.fork = s.People.Fork(s.t, scmtest.Eve, "promoter/staging/shop", "main")
}

// retarget turns a pull request to another branch, or back.
func (s *story) retarget() {
	pr, found := s.some()
	if !found {
		return
	}
	const other = "other"
	if s.head(other) == "" {
		s.write(other, "README", "z\n")
	}
	base := other
	if pr.Base == base {
		base = s.branchOf(strings.TrimPrefix(pr.Head.Branch, "promoter/"))
	}
	s.tell("a person turns #%d to %s", pr.Number, base)
	s.People.Retarget(s.t, scmtest.Ann, pr.Number, base)
}

func (s *story) draft() {
	if pr, found := s.some(); found {
		s.tell("a person makes #%d a draft: %v", pr.Number, !pr.Draft)
		s.People.Draft(s.t, scmtest.Ann, pr.Number, !pr.Draft)
		delete(s.titled, pr.Number) // on some forges the title says it
	}
}

func (s *story) deleteBranch() {
	pr, found := s.some()
	if !found {
		return
	}
	s.tell("a person deletes %s", pr.Head.Branch)
	s.Git.Delete(s.t, scmtest.Ann, pr.Head.Branch)
	delete(s.theirs, pr.Head.Branch)
}

// review lets somebody approve, or object, or take back what they said.
func (s *story) review() {
	pr, found := s.some()
	if !found {
		return
	}
	who := []string{scmtest.Ann, scmtest.Bob, scmtest.Eve}[s.random.IntN(3)]
	states := []scm.ReviewState{scm.Approved, scm.Approved, scm.Commented, scm.ChangesRequested}
	state := states[s.random.IntN(len(states))]
	s.tell("%s says %s of #%d", who, state, pr.Number)
	s.People.Review(s.t, who, pr.Number, state)
	if s.reviewed[pr.Number] == nil {
		s.reviewed[pr.Number] = map[string]review{}
	}
	if state != scm.Commented {
		s.reviewed[pr.Number][who] = review{state, pr.Head.Commit}
	}
}

// review is what somebody said last, and of which head.
type review struct {
	state scm.ReviewState
	head  string
}

// retitle lets a person write another title.
func (s *story) retitle() {
	if pr, found := s.some(); found {
		s.titled[pr.Number] = fmt.Sprintf("My title %d", s.passes)
		s.tell("a person calls #%d %q", pr.Number, s.titled[pr.Number])
		s.People.Retitle(s.t, scmtest.Ann, pr.Number, s.titled[pr.Number])
	}
}

// comment lets somebody say something.
func (s *story) comment() {
	if pr, found := s.some(); found {
		s.tell("a person comments on #%d", pr.Number)
		s.People.Comment(s.t, scmtest.Bob, pr.Number, "Nice <!-- promoter -->")
	}
}

// report lets a machine say how a head is.
func (s *story) report() {
	if pr, found := s.some(); found {
		states := []scm.CheckState{scm.CheckPassed, scm.CheckPending, scm.CheckFailed}
		state := states[s.random.IntN(len(states))]
		s.tell("ci of #%d: %s", pr.Number, state)
		s.People.Status(s.t, scmtest.Robot, pr.Head.Commit, ci, state)
		s.reported[pr.Head.Commit] = state
	}
}
