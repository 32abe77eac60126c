package field

import (
	"errors"
	"strconv"
	"strings"
)

// maxPath limits a YAML path, in bytes.
const maxPath = 1024

var (
	errPathLong    = errors.New("it is too long")
	errPathEmpty   = errors.New("a key is empty")
	errPathStart   = errors.New("it starts with $ or a dot")
	errPathQuote   = errors.New("a quote is not closed")
	errPathBracket = errors.New("a bracket is not closed")
	errPathInner   = errors.New("a bracket has neither an index, nor KEY=VALUE, nor a key in quotes")
	errPathAfter   = errors.New("a step is followed by neither a dot nor a bracket")
)

// CheckYAMLPath validates the path of a value: keys with dots between them, indices and
// entries in brackets, and keys with dots in quotes, as in
//
//	spec.values.image.tag
//	images[0].newTag
//	images[name=quay.io/acme/web].newTag
//	metadata.annotations["example.com/tag"]
//
// The updater interprets it; here a mistake is found before there is any file.
func CheckYAMLPath(path string) error {
	switch {
	case len(path) > maxPath:
		return errPathLong
	case strings.HasPrefix(path, "$") || strings.HasPrefix(path, "."):
		return errPathStart
	}
	for rest := path; ; {
		after, err := skipStep(rest)
		switch {
		case err != nil:
			return err
		case after == "":
			return nil
		case after[0] == '[':
			rest = after
		case after[0] == '.' && !strings.HasPrefix(after, ".["):
			rest = after[1:]
		default:
			return errPathAfter
		}
	}
}

// skipStep returns what follows the first step.
func skipStep(rest string) (after string, err error) {
	switch {
	case rest == "":
		return "", errPathEmpty
	case rest[0] == '[':
		return skipBracket(rest[1:])
	case isQuote(rest[0]):
		return skipQuoted(rest)
	}
	end := strings.IndexAny(rest, ".[")
	if end < 0 {
		return "", nil
	}
	if end == 0 {
		return "", errPathEmpty
	}
	return rest[end:], nil
}

func skipBracket(rest string) (after string, err error) {
	if rest != "" && isQuote(rest[0]) {
		after, err := skipQuoted(rest)
		after, closed := strings.CutPrefix(after, "]")
		if err == nil && !closed {
			err = errPathBracket
		}
		return after, err
	}
	inner, after, closed := strings.Cut(rest, "]")
	if !closed {
		return "", errPathBracket
	}
	if key, value, entry := strings.Cut(inner, "="); entry && key != "" && value != "" {
		return after, nil
	}
	if index, err := strconv.Atoi(inner); err != nil || index < 0 {
		return "", errPathInner
	}
	return after, nil
}

func skipQuoted(rest string) (after string, err error) {
	key, after, closed := strings.Cut(rest[1:], rest[:1])
	switch {
	case !closed:
		return "", errPathQuote
	case key == "":
		return "", errPathEmpty
	}
	return after, nil
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }
