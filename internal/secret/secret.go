// Package secret holds values that must never be printed: tokens, passwords,
// webhook secrets. A String formats as *** through every road out of the
// program: fmt, slog, JSON, text. Reveal is the only way to the value, so that
// every use of one can be found by name.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted is what a secret looks like wherever it is printed.
const Redacted = "***"

// String is a secret. The zero value is an absent one.
//
// The value stands behind a pointer, because fmt calls no methods of a value in
// an unexported field or by the verb %p: there it prints what it finds, which
// then is an address. So == says whether two secrets are the same one, and not
// whether they have the same text.
type String struct{ value *string }

// New wraps a value; an empty one is absent.
func New(value string) String {
	if value == "" {
		return String{}
	}
	return String{value: &value}
}

// Reveal returns the value, for the one call that needs it.
func (s String) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return *s.value
}

// IsZero says that there is no secret.
func (s String) IsZero() bool { return s.value == nil }

// String returns Redacted, or nothing for an absent secret.
func (s String) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// Format prints String for every verb, so that %#v and %x tell nothing either.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// GoString returns String.
func (s String) GoString() string { return s.String() }

// LogValue returns String, for log/slog.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns String, for JSON, YAML and every other text encoding.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
