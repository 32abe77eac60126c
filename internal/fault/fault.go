// Package fault names the closed set of error kinds of promoter. A kind says
// what may be done next: retry later, wait until a time, give up, ask a person.
//
// Adapters make faults; only two places read them: the lane policy (retry,
// wait, give up) and the mapping to HTTP statuses and exit codes. Everything
// between wraps with %w and the noun it acted on.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what may be done about an error.
type Kind string

// The closed set of kinds. An error without a fault in its chain is Internal.
const (
	Internal     Kind = "internal"     // a defect of promoter: report it
	Invalid      Kind = "invalid"      // the input is wrong: a person must change it
	NotFound     Kind = "not found"    // the thing is not there (any more)
	Conflict     Kind = "conflict"     // somebody else was faster: read again and retry
	Unauthorized Kind = "unauthorized" // the credential may not do this: no retry
	RateLimited  Kind = "rate limited" // wait until Error.RetryAt
	Temporary    Kind = "temporary"    // retry with back-off
)

// Error is an error with a kind. Its text is the text of the wrapped error:
// the kind is data for the caller, not words for the reader.
type Error struct {
	Kind    Kind
	RetryAt time.Time // only for RateLimited; zero when the server named no time
	Err     error
}

// Error returns the text of the wrapped error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of the kind; format and arguments are those of fmt.Errorf.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Wrap gives err a kind. A nil err stays nil.
func Wrap(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind, Err: err}
}

// Limited makes a RateLimited error that may be retried at the given time; a
// zero time means that the server did not say when.
func Limited(retryAt time.Time, err error) error {
	return &Error{Kind: RateLimited, RetryAt: retryAt, Err: err}
}

// KindOf returns the outermost kind in the chain of err, Internal when there is
// none, and the empty kind for a nil error.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// RetryAt returns the time at which a rate limited call may be tried again.
func RetryAt(err error) (time.Time, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != RateLimited || e.RetryAt.IsZero() {
		return time.Time{}, false
	}
	return e.RetryAt, true
}
