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

// YAMLPath is how to reach a value from the root of a document. It has at least one step.
type YAMLPath []YAMLStep

// YAMLStep is one part of a path: a mapping key, or a list entry that is selected by its index or
// by one of its keys.
type YAMLStep struct {
	Key   string
	Entry bool // the step selects a list entry
	Index int  // of the entry
	// Where selects the entry whose key has the value: [name=web].
	Where, Is string
}

// ParseYAMLPath parses a path: keys with dots between them, indices and entries in brackets, and
// keys with dots in quotes, as in
//
//	spec.values.image.tag
//	images[0].newTag
//	images[name=quay.io/acme/web].newTag
//	metadata.annotations["example.com/tag"]
func ParseYAMLPath(path string) (YAMLPath, error) {
	switch {
	case len(path) > maxPath:
		return nil, errPathLong
	case strings.HasPrefix(path, "$") || strings.HasPrefix(path, "."):
		return nil, errPathStart
	}
	var steps YAMLPath
	for rest := path; ; {
		step, after, err := cutStep(rest)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		switch {
		case after == "":
			return steps, nil
		case after[0] == '[':
			rest = after
		case after[0] == '.' && !strings.HasPrefix(after, ".["):
			rest = after[1:]
		default:
			return nil, errPathAfter
		}
	}
}

// cutStep returns the first step and what follows it.
func cutStep(rest string) (step YAMLStep, after string, err error) {
	switch {
	case rest == "":
		return step, "", errPathEmpty
	case rest[0] == '[':
		return cutBracket(rest[1:])
	case isQuote(rest[0]):
		step.Key, after, err = cutQuoted(rest)
		return step, after, err
	}
	end := strings.IndexAny(rest, ".[")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return step, "", errPathEmpty
	}
	return YAMLStep{Key: rest[:end]}, rest[end:], nil
}

func cutBracket(rest string) (step YAMLStep, after string, err error) {
	if rest != "" && isQuote(rest[0]) {
		step.Key, after, err = cutQuoted(rest)
		after, closed := strings.CutPrefix(after, "]")
		if err == nil && !closed {
			err = errPathBracket
		}
		return step, after, err
	}
	inner, after, closed := strings.Cut(rest, "]")
	if !closed {
		return step, "", errPathBracket
	}
	if key, value, entry := strings.Cut(inner, "="); entry && key != "" && value != "" {
		return YAMLStep{Entry: true, Where: key, Is: strings.Trim(value, `"'`)}, after, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 {
		return step, "", errPathInner
	}
	return YAMLStep{Entry: true, Index: index}, after, nil
}

func cutQuoted(rest string) (key, after string, err error) {
	key, after, closed := strings.Cut(rest[1:], rest[:1])
	switch {
	case !closed:
		return "", "", errPathQuote
	case key == "":
		return "", "", errPathEmpty
	}
	return key, after, nil
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// Cut returns the path of the mapping and the key of the last step. It returns false if the last
// step selects a list entry.
func (p YAMLPath) Cut() (mapping YAMLPath, key string, found bool) {
	last := p[len(p)-1]
	return p[:len(p)-1], last.Key, !last.Entry
}
