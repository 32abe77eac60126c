package input

import (
	"errors"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/promotion"
)

// maxSteps limits the steps of the decisions about one repository. A step compares two versions, or visits one
// environment, in 10 to 50 nanoseconds. 10,000 targets with three past versions each need a million; 15,000 in 300 environments
// with 3 parents each, where all of 20 past versions wait, need 230 million.
const maxSteps = 300_000_000

// ConditionSteps is what the evaluation of a condition counts as.
const ConditionSteps = 100

// stepsBetween is how many steps pass until the context is read again.
const stepsBetween = 1 << 16

// steps counts what the decisions about a repository do. What has no steps left returns what it has, which
// then counts for nothing: see Index.Err.
type steps struct {
	ended func() error
	left  int
	next  int // how many are left when the context is read again
	err   error
}

// spend reports whether n more steps may follow.
func (s *steps) spend(n int) bool {
	if s.err != nil {
		return false
	}
	s.left -= n
	if s.left < 0 {
		s.err = budget.ErrExhausted
		return false
	}
	if s.next == 0 || s.left < s.next {
		s.next = s.left - stepsBetween
		s.err = s.ended()
	}
	return s.err == nil
}

// Spend reports whether n more steps of the decision may follow. If not, the decision does not count, whatever it
// is.
func (s *Subject) Spend(n int) bool { return s.index.steps.spend(n) }

// Err returns why the decisions that are made from the index do not count: the context ended, or they take more
// steps than the budget allows. The target is the one that was decided about.
func (ix *Index) Err(at promotion.Target) error {
	err := ix.steps.err
	if !errors.Is(err, budget.ErrExhausted) {
		return err
	}
	c := ix.obs.Config
	parents := len(c.Settings(at.Environment, at.Application).After)
	all := len(c.Ancestors(at.Environment))
	return fault.New(fault.Invalid, "%w: deciding about %s takes more than %d steps: it follows %d environments, and %d with theirs",
		err, at.Name(), maxSteps, parents, all)
}
