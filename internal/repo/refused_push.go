package repo

import (
	"fmt"

	"promoter/internal/fault"
)

// RefusedPushError is in the chain of the error of a push that the forge refuses, and would refuse again.
type RefusedPushError struct {
	Branch string
	Cause  error // of the forge
}

// Error returns the branch with the answer of the forge.
func (e *RefusedPushError) Error() string { return fmt.Sprintf("push %s: %v", e.Branch, e.Cause) }

// Unwrap returns the answer of the forge.
func (e *RefusedPushError) Unwrap() error { return e.Cause }

// RefusedPush returns the error of a push to a branch. It is a RefusedPushError if the forge refused it.
func RefusedPush(branch string, cause error) error {
	if fault.KindOf(cause) == fault.Unauthorized {
		return &RefusedPushError{Branch: branch, Cause: cause}
	}
	return fmt.Errorf("push %s: %w", branch, cause)
}
