package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/budget"
	"promoter/internal/fault"
)

// PartialError is one part of a repository that failed.
type PartialError struct {
	What string // "branch env/prod", "component web"
	Err  error
	// Incident is set if it is about what happened in the repository, and was handled: a cycle that
	// follows does not find it again.
	Incident bool
}

// Failures are what failed in parts of the repository while the rest goes on. As part of an observation
// it is a value that does not change. While something is read or done, a Collector collects more of them.
type Failures struct {
	Errors      []PartialError
	Skipped     map[string]error  // by branch, why nothing is done about it
	Unavailable map[string]string // by environment, why it takes no part, not even as a parent
}

// Any reports whether any part failed.
func (f Failures) Any() bool {
	return len(f.Errors) > 0 || len(f.Skipped) > 0 || len(f.Unavailable) > 0
}

// Exhausted returns the error about a budget that all parts share; nil: it sufficed. Which parts failed because of
// it is chance, so nothing may be done about the others either.
func (f Failures) Exhausted() error {
	for _, one := range f.Errors {
		if errors.Is(one.Err, budget.ErrExhausted) {
			return fmt.Errorf("%s: %w", one.What, one.Err)
		}
	}
	for branch, err := range f.Skipped {
		if errors.Is(err, budget.ErrExhausted) {
			return fmt.Errorf("branch %s: %w", branch, err)
		}
	}
	return nil
}

// SkipReason returns why nothing is done about a branch; nil: something may be.
func (f Failures) SkipReason(branch string) error { return f.Skipped[branch] }

// Collector collects failures. It belongs to the function that reads or acts, and is not kept.
type Collector struct {
	// lastAttempt: a conflict is the failure of its part, because no restart follows.
	lastAttempt bool
	failures    Failures
	seen        map[string]bool // the text of the errors
}

// Collect returns a collector that begins with the failures of an observation.
func Collect(known Failures, lastAttempt bool) *Collector {
	c := &Collector{
		lastAttempt: lastAttempt, seen: map[string]bool{},
		failures: Failures{Errors: slices.Clone(known.Errors), Skipped: map[string]error{}, Unavailable: map[string]string{}},
	}
	maps.Copy(c.failures.Skipped, known.Skipped)
	maps.Copy(c.failures.Unavailable, known.Unavailable)
	for _, one := range known.Errors {
		c.seen[one.text()] = true
	}
	return c
}

func (e PartialError) text() string { return e.What + ": " + e.Err.Error() }

// After returns errors with the incidents of the cycles before them.
func After(errors, before []PartialError) []PartialError {
	var all []PartialError
	for _, one := range before {
		again := slices.ContainsFunc(errors, func(now PartialError) bool { return now.text() == one.text() })
		if one.Incident && !again {
			all = append(all, one)
		}
	}
	return append(all, errors...)
}

// Failures returns what was collected until now.
func (c *Collector) Failures() Failures {
	return Failures{
		Errors:      slices.Clone(c.failures.Errors),
		Skipped:     maps.Clone(c.failures.Skipped),
		Unavailable: maps.Clone(c.failures.Unavailable),
	}
}

// LastAttempt reports whether no restart follows.
func (c *Collector) LastAttempt() bool { return c.lastAttempt }

// SkipReason returns why nothing is done about a branch; nil: something may be.
func (c *Collector) SkipReason(branch string) error { return c.failures.Skipped[branch] }

// Add records that a part of the repository failed. Several questions that fail in the
// same way are one error.
func (c *Collector) Add(what string, err error) {
	c.add(PartialError{What: what, Err: err})
}

// Incident records what happened in the repository, and that it was handled.
func (c *Collector) Incident(what string, err error) {
	c.add(PartialError{What: what, Err: err, Incident: true})
}

func (c *Collector) add(one PartialError) {
	if text := one.text(); !c.seen[text] {
		c.seen[text] = true
		c.failures.Errors = append(c.failures.Errors, one)
	}
}

// Stop returns an error that ends the reconciliation: it was canceled, the server
// limits us, or a conflict makes a restart worthwhile. Nil: the rest goes on.
func (c *Collector) Stop(ctx context.Context, err error) error {
	switch kind := fault.KindOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case kind == fault.RateLimited, kind == fault.Conflict && !c.lastAttempt:
		return err
	default:
		return nil
	}
}

// AddOrStop is Add, unless the error ends the reconciliation.
func (c *Collector) AddOrStop(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if stop := c.Stop(ctx, err); stop != nil {
		return stop
	}
	c.Add(what, err)
	return nil
}

// SkipBranch does nothing about a branch in this reconciliation.
func (c *Collector) SkipBranch(ctx context.Context, branch string, err error) error {
	if stop := c.Stop(ctx, err); stop != nil {
		return stop
	}
	if err != nil && c.failures.Skipped[branch] == nil {
		c.failures.Skipped[branch] = err
	}
	return nil
}

// SkipEnvironment keeps an environment out of this reconciliation, also as a parent:
// what was reverted there must not be proposed again.
func (c *Collector) SkipEnvironment(ctx context.Context, environment string, err error) error {
	if stop := c.Stop(ctx, err); stop != nil || err == nil {
		return stop
	}
	if _, known := c.failures.Unavailable[environment]; !known {
		c.Add("environment "+environment, err)
	}
	c.LoseEnvironment(environment, err.Error())
	return nil
}

// LoseEnvironment records why an environment takes no part in this reconciliation.
func (c *Collector) LoseEnvironment(environment, why string) {
	c.failures.Unavailable[environment] = why
}
