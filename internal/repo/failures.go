package repo

import (
	"context"
	"maps"
	"slices"

	"promoter/internal/fault"
)

// PartialError is one part of a repository that failed.
type PartialError struct {
	What string // "branch env/prod", "component web"
	Err  error
}

// Failures collects what failed in parts of the repository while the rest goes on.
type Failures struct {
	// lastAttempt: a conflict is the failure of its part, because no restart follows.
	LastAttempt bool
	Errors      []PartialError
	seen        map[string]bool   // the text of the errors
	Skipped     map[string]error  // by branch, why nothing is done about it
	Unavailable map[string]string // by environment, why it takes no part, not even as a parent
}

// NewFailures returns an empty list.
func NewFailures(lastAttempt bool) *Failures {
	return &Failures{LastAttempt: lastAttempt, seen: map[string]bool{}, Skipped: map[string]error{}, Unavailable: map[string]string{}}
}

// Clone returns a copy to which errors can be added.
func (f *Failures) Clone() *Failures {
	copied := *f
	copied.Errors, copied.seen = slices.Clone(f.Errors), maps.Clone(f.seen)
	return &copied
}

// Add records that a part of the repository failed. Several questions that fail in the
// same way are one error.
func (f *Failures) Add(what string, err error) {
	if text := what + ": " + err.Error(); !f.seen[text] {
		f.seen[text] = true
		f.Errors = append(f.Errors, PartialError{What: what, Err: err})
	}
}

// Stop returns an error that ends the reconciliation: it was canceled, the server
// limits us, or a conflict makes a restart worthwhile. Nil: the rest goes on.
func (f *Failures) Stop(ctx context.Context, err error) error {
	switch kind := fault.KindOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case kind == fault.RateLimited, kind == fault.Conflict && !f.LastAttempt:
		return err
	default:
		return nil
	}
}

// AddOrStop is add, unless the error ends the reconciliation.
func (f *Failures) AddOrStop(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if stop := f.Stop(ctx, err); stop != nil {
		return stop
	}
	f.Add(what, err)
	return nil
}

// SkipBranch does nothing about a branch in this reconciliation.
func (f *Failures) SkipBranch(ctx context.Context, branch string, err error) error {
	if stop := f.Stop(ctx, err); stop != nil {
		return stop
	}
	if err != nil && f.Skipped[branch] == nil {
		f.Skipped[branch] = err
	}
	return nil
}

// SkipEnvironment keeps an environment out of this reconciliation, also as a parent:
// what was reverted there must not be proposed again.
func (f *Failures) SkipEnvironment(ctx context.Context, environment string, err error) error {
	if stop := f.Stop(ctx, err); stop != nil || err == nil {
		return stop
	}
	if _, known := f.Unavailable[environment]; !known {
		f.Add("environment "+environment, err)
	}
	f.Unavailable[environment] = err.Error()
	return nil
}
