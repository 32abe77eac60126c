package serverconfig

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Reference is where a secret is: env:NAME or file:PATH. The zero Reference is none.
type Reference struct{ text string }

// maxSecret limits a secret from a file, in bytes. Private keys and bundles of host keys
// are smaller.
const maxSecret = 64 << 10

var (
	envReference  = regexp.MustCompile(`^env:[A-Za-z_][A-Za-z0-9_]*$`)
	fileReference = regexp.MustCompile(`^file:/[^\x00]+$`)
)

// errReference does not quote what was written: it may be the secret itself.
var errReference = errors.New("this is the secret itself, or the reference is malformed")

// ParseReference parses env:NAME or file:PATH with an absolute path.
func ParseReference(s string) (Reference, error) {
	if envReference.MatchString(s) || fileReference.MatchString(s) {
		return Reference{text: s}, nil
	}
	return Reference{}, errReference
}

// String returns the reference, which is not a secret.
func (r Reference) String() string { return r.text }

// IsZero reports whether there is no reference.
func (r Reference) IsZero() bool { return r.text == "" }

// File returns the path of a reference to a file, empty for other references.
func (r Reference) File() string {
	path, isFile := strings.CutPrefix(r.text, "file:")
	if !isFile {
		return ""
	}
	return path
}

// Sources is where secrets are fetched from.
type Sources struct {
	Env  func(name string) (string, bool)
	Open func(path string) (io.ReadCloser, error)
	// Files follow the files, so that a secret is replaced with its file; nil: each is read once.
	Files *secret.Files
}

// Resolve fetches the secret. Line ends after it are removed, because editors and echo
// add them. An error has the reference and never the value.
func (r Reference) Resolve(sources Sources) (secret.String, error) {
	if path := r.File(); path != "" && sources.Files != nil {
		return sources.Files.Secret(path, func() (string, error) { return r.read(sources) })
	}
	text, err := r.read(sources)
	return secret.New(text), err
}

func (r Reference) read(sources Sources) (value string, err error) {
	kind, name, _ := strings.Cut(r.text, ":")
	switch kind {
	case "env":
		var found bool
		if value, found = sources.Env(name); !found {
			return "", fault.New(fault.Invalid, "secret %s: the environment variable is not set", r)
		}
	case "file":
		file, err := sources.Open(name)
		if err != nil {
			return "", fault.Wrap(fault.Invalid, fmt.Errorf("secret %s: %w", r, err))
		}
		data, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
		if err = errors.Join(err, file.Close()); err != nil {
			return "", fault.Wrap(fault.Invalid, fmt.Errorf("secret %s: %w", r, err))
		}
		value = string(data)
	default:
		return "", fault.New(fault.Invalid, "no secret is named")
	}
	if len(value) > maxSecret {
		return "", fault.New(fault.Invalid, "secret %s: larger than %d bytes", r, maxSecret)
	}
	if value = strings.TrimRight(value, "\r\n"); value == "" {
		return "", fault.New(fault.Invalid, "secret %s: empty", r)
	}
	return value, nil
}
