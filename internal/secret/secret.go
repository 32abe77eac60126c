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

// String is a secret. The zero value is an absent one. That of a file (Files) follows the file:
// Reveal is called for each use, and what is made from the text is Derived.
//
// The value is behind two pointers, because fmt does not call methods of values in
// unexported fields or for %p: it then prints an address, or the struct behind one pointer.
// So == compares identities, not texts.
type String struct{ value **value }

// value is one of a text, a file, and a text that is derived from a file.
type value struct {
	text    string
	file    *file
	checked *Derived[string] // of the file
}

func (v *value) secret() String { return String{&v} }

// New wraps a value; an empty one is absent.
func New(text string) String {
	if text == "" {
		return String{}
	}
	return (&value{text: text}).secret()
}

// Reveal returns the value, for the one call that needs it.
func (s String) Reveal() string {
	if s.IsZero() {
		return ""
	}
	switch v := *s.value; {
	case v.checked != nil:
		return v.checked.Value()
	case v.file != nil:
		return v.file.current()
	default:
		return v.text
	}
}

// file returns the file that the secret is in; nil: none.
func (s String) file() *file {
	if s.IsZero() {
		return nil
	}
	return (*s.value).file
}

// Renewed reads the file of the secret again, after the other side refused a text. It reports
// whether there is another text now, with which one more attempt may succeed.
func (s String) Renewed(refused string) bool {
	in := s.file()
	if in == nil {
		return false
	}
	in.readAgain()
	return s.Reveal() != refused
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
