package enginetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// Rules implements scm.Ruled.
func (f *Forge) Rules(_ context.Context, branch string) (scm.Rules, error) {
	if err := f.failing("rules"); err != nil {
		return scm.Rules{}, err
	}
	defer f.call("rules")()
	return f.Protected[branch], nil
}

// forbids says why a pull request may not be merged; the lock is held.
func (f *Forge) forbids(p *pull) error {
	rules := f.Protected[p.Base]
	if rules.Queue {
		return refuses(scm.RuleQueue, "Changes must be made through the merge queue")
	}
	if given := f.approvals(p); given < rules.Approvals {
		return refuses("", fmt.Sprintf("%d of %d approvals", given, rules.Approvals))
	}
	for _, name := range rules.Checks {
		if !f.passed(p.Head.Commit, name) {
			return refuses("", fmt.Sprintf("Required status check %q is expected", name))
		}
	}
	if rules.Current && f.Git.behind(p.Base, p.Head.Commit) {
		return fault.New(fault.Temporary, "the head is not up to date: %w", scm.ErrBehind)
	}
	if f.Secret != nil {
		if words := f.Secret(p.Number); words != "" {
			return refuses("", words)
		}
	}
	return nil
}

func refuses(rule, words string) error {
	return fault.Wrap(fault.Unauthorized, &scm.RefusedError{Rule: rule, Words: words})
}

// approvals counts the people whose last word is an approval.
func (f *Forge) approvals(p *pull) int {
	var by []string
	for _, review := range slices.Backward(p.reviews) {
		if review.Author.Login == Bot.Login || slices.Contains(by, review.Author.Login) {
			continue
		}
		if review.State == scm.Approved {
			by = append(by, review.Author.Login)
		}
	}
	return len(by)
}

// passed says whether the latest status of a name has passed.
func (f *Forge) passed(commit, name string) bool {
	for _, check := range slices.Backward(f.statuses[commit]) {
		if check.Name == name {
			return check.State == scm.CheckPassed
		}
	}
	return false
}

// behind says whether a branch has commits that a head has not.
func (g *Git) behind(base, head string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.common(g.branches[base], head) != g.branches[base]
}

// HeadDeleted implements scm.Deletions.
func (f *Forge) HeadDeleted(_ context.Context, number int) (time.Time, error) {
	if err := f.failing("deletions"); err != nil {
		return time.Time{}, err
	}
	defer f.call("deletions")()
	return f.find(number).deleted, nil
}
