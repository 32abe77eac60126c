package config

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Reference says where a secret is: env:NAME or file:PATH. The zero Reference is
// none.
type Reference struct{ text string }

// maxSecret bounds a secret from a file, in bytes. Private keys and bundles of
// host keys are smaller.
const maxSecret = 64 << 10

var (
	envReference  = regexp.MustCompile(`^env:[A-Za-z_][A-Za-z0-9_]*$`)
	fileReference = regexp.MustCompile(`^file:/[^\x00]+$`)
)

// errReference does not quote what was written: it may be the secret itself.
var errReference = errors.New("a secret stands here itself, or its reference is not well formed")

// ParseReference reads env:NAME or file:PATH with an absolute path.
func ParseReference(s string) (Reference, error) {
	if envReference.MatchString(s) || fileReference.MatchString(s) {
		return Reference{text: s}, nil
	}
	return Reference{}, errReference
}

// String returns the reference, which is no secret.
func (r Reference) String() string { return r.text }

// IsZero says that there is no reference.
func (r Reference) IsZero() bool { return r.text == "" }

// Sources is where secrets are fetched from.
type Sources struct {
	Env  func(name string) (string, bool)
	Open func(path string) (io.ReadCloser, error)
}

// Resolve fetches the secret. Line ends after it are dropped, because editors and
// echo add them. An error names the place and never the value.
func (r Reference) Resolve(sources Sources) (secret.String, error) {
	kind, name, _ := strings.Cut(r.text, ":")
	switch kind {
	case "env":
		value, found := sources.Env(name)
		if !found {
			return secret.String{}, fault.New(fault.Invalid, "secret %s: the environment variable is not set", r)
		}
		return r.bounded(value)
	case "file":
		return r.fromFile(name, sources)
	}
	return secret.String{}, fault.New(fault.Invalid, "no secret is named")
}

func (r Reference) fromFile(path string, sources Sources) (_ secret.String, err error) {
	file, err := sources.Open(path)
	if err != nil {
		return secret.String{}, fault.Wrap(fault.Invalid, fmt.Errorf("secret %s: %w", r, err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	if err != nil {
		return secret.String{}, fault.Wrap(fault.Invalid, fmt.Errorf("secret %s: %w", r, err))
	}
	return r.bounded(string(data))
}

func (r Reference) bounded(value string) (secret.String, error) {
	if len(value) > maxSecret {
		return secret.String{}, fault.New(fault.Invalid, "secret %s: larger than %d bytes", r, maxSecret)
	}
	value = strings.TrimRight(value, "\r\n")
	if value == "" {
		return secret.String{}, fault.New(fault.Invalid, "secret %s: empty", r)
	}
	return secret.New(value), nil
}
