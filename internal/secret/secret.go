// Package secret holds values that must never be printed: tokens, passwords, and webhook
// secrets. A String is *** in fmt, slog, JSON, and text. Reveal is the only way to the
// value, so that every use can be found by name.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted is the printed form of a secret.
const Redacted = "***"

// String is a secret. The zero value is an absent one.
//
// The value is behind a pointer, because fmt does not call methods of values in
// unexported fields or for %p: it then prints an address. So == compares identities, not
// texts.
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

// IsZero reports whether there is no secret.
func (s String) IsZero() bool { return s.value == nil }

// String returns Redacted, or nothing for an absent secret.
func (s String) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// Format prints String for every verb, including %#v and %x.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// GoString returns String.
func (s String) GoString() string { return s.String() }

// LogValue returns String, for log/slog.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns String, for JSON, YAML and every other text encoding.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
