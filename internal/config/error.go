package config

import "promoter/internal/fault"

// Error reports that a config file cannot be used. It is of kind fault.Invalid.
type Error struct{ Problems Problems }

// Error returns one line per problem.
func (e *Error) Error() string { return e.Problems.String() }

// Unwrap makes the error one of kind fault.Invalid.
func (e *Error) Unwrap() error { return fault.Wrap(fault.Invalid, e.Problems.Err()) }
