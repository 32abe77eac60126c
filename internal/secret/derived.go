package secret

import (
	"slices"
	"sync"
)

// Derived is a value that is made from secrets, such as a parsed key. It is made again when a
// file has another secret. If that fails, the value before stays in use.
type Derived[T any] struct {
	use  string
	from []String
	read func(from []String) (T, error)

	mu    sync.Mutex
	texts []string // that were tried last
	value T
}

// Derive makes a value from secrets. Use is what the secrets are used for, in messages.
func Derive[T any](use string, read func(from []String) (T, error), from ...String) (*Derived[T], error) {
	d := &Derived[T]{use: use, from: from, read: read, texts: reveal(from)}
	made, err := read(fixed(d.texts))
	d.value = made
	return d, err
}

// Value returns the value of the present secrets.
func (d *Derived[T]) Value() T {
	d.mu.Lock()
	defer d.mu.Unlock()
	texts := reveal(d.from)
	if slices.Equal(texts, d.texts) {
		return d.value
	}
	d.texts = texts
	made, err := d.read(fixed(texts))
	for _, one := range d.from {
		if in := one.file(); in != nil {
			in.report(d.use, err)
		}
	}
	if err == nil {
		d.value = made
	}
	return d.value
}

func reveal(all []String) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.Reveal()
	}
	return texts
}

// fixed returns secrets that do not change while a value is made of them.
func fixed(texts []string) []String {
	all := make([]String, len(texts))
	for i, text := range texts {
		all[i] = New(text)
	}
	return all
}

// Checked returns a secret that a file replaces only with one that passes a check, which the present
// one must pass. Use is what it is used for, in messages; for the same use, it is the same secret.
func Checked(s String, use string, check func(String) error) (String, error) {
	in := s.file()
	if in == nil {
		return s, check(s)
	}
	return in.checkedFor(use, func() (*Derived[string], error) {
		return Derive(use, func(from []String) (string, error) { return from[0].Reveal(), check(from[0]) }, s)
	})
}
