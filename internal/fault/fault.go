// Package fault defines the closed set of error kinds. A kind determines how to
// proceed: retry later, wait until a time, give up, or ask a user.
//
// Adapters create faults. What decides how to go on reads them: the retry policy of the
// work queue, the attempts of a reconciliation, what keeps a partial failure apart from the rest,
// and the mapping to HTTP statuses and exit codes. Everything in between wraps with %w and the noun
// it acted on.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind is how to handle an error.
type Kind string

// The closed set of kinds. An error without a fault in its chain is Internal.
const (
	Internal     Kind = "internal"     // a bug in promoter: report it
	Invalid      Kind = "invalid"      // the input is wrong: a user must change it
	NotFound     Kind = "not found"    // the object does not exist (any more)
	Conflict     Kind = "conflict"     // lost a race: read again and retry
	Unauthorized Kind = "unauthorized" // the credential lacks permission: a user must change it
	RateLimited  Kind = "rate limited" // wait until Error.RetryAt
	Temporary    Kind = "temporary"    // retry with back-off
)

// Error is an error with a kind. Its text is the text of the wrapped error: the
// kind is for the caller and not part of the message.
type Error struct {
	Kind    Kind
	RetryAt time.Time // only for RateLimited; zero if the server sent no time
	Err     error
	// Passing is set for a Temporary error that belongs to the normal course and ends by itself within seconds, so that no
	// user needs to act, such as of a repository that a forge still prepares.
	Passing bool
}

// Error returns the text of the wrapped error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of the kind. Format and arguments are those of
// fmt.Errorf.
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

// Limited returns a RateLimited error that may be retried at the given time. A
// zero time means that the server did not send one.
func Limited(retryAt time.Time, err error) error {
	return &Error{Kind: RateLimited, RetryAt: retryAt, Err: err}
}

// KindOf returns the outermost kind in the chain of err, Internal if there is
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

// Passing returns a Temporary error that ends by itself within seconds. Format and arguments are those of fmt.Errorf.
func Passing(format string, args ...any) error {
	return &Error{Kind: Temporary, Err: fmt.Errorf(format, args...), Passing: true}
}

// IsPassing reports whether all that failed ends by itself within seconds.
func IsPassing(err error) bool {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		return !slices.ContainsFunc(joined.Unwrap(), func(one error) bool { return !IsPassing(one) })
	}
	if e, is := err.(*Error); is && e.Passing { //nolint:errorlint // the same
		return true
	}
	wrapped := errors.Unwrap(err)
	return wrapped != nil && IsPassing(wrapped)
}

// RetryAt returns when a rate-limited call may be retried.
func RetryAt(err error) (time.Time, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != RateLimited || e.RetryAt.IsZero() {
		return time.Time{}, false
	}
	return e.RetryAt, true
}
