package config

import (
	"errors"
	"strconv"
	"strings"
)

// PathStep is one step of a YAML path: a key of a mapping, an index of a list, or
// the entry of a list in which a key has a value.
type PathStep struct {
	Key   string // a key of a mapping; with Equal, the key that names an entry
	Equal string // the value that names an entry of a list
	Entry bool   // Key and Equal name an entry of a list
	Index int    // of a list, from 0; only when IsIndex
	// IsIndex says that the step is Index.
	IsIndex bool
}

// maxPathSteps bounds a YAML path.
const maxPathSteps = 64

var (
	errPathEmpty   = errors.New("a step of the path is empty")
	errPathBracket = errors.New("a bracket is not closed")
	errPathAfter   = errors.New("a bracket is followed by neither a dot nor a bracket")
	errPathLong    = errors.New("the path has too many steps")
	errPathStart   = errors.New("the path begins with $ or a dot")
)

// ParseYAMLPath reads the path of a scalar: keys with dots between them, indices
// and entries in brackets, and keys with dots in quotes in brackets, as in
//
//	spec.values.image.tag
//	images[0].newTag
//	images[name=quay.io/acme/web].newTag
//	metadata.annotations["example.com/tag"]
func ParseYAMLPath(path string) ([]PathStep, error) {
	var steps []PathStep
	if strings.HasPrefix(path, "$") || strings.HasPrefix(path, ".") {
		return nil, errPathStart
	}
	for rest := path; ; {
		step, after, err := nextStep(rest)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		switch {
		case len(steps) > maxPathSteps:
			return nil, errPathLong
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

func nextStep(rest string) (step PathStep, after string, err error) {
	if strings.HasPrefix(rest, "[") {
		return bracketStep(rest[1:])
	}
	end := strings.IndexAny(rest, ".[")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return step, "", errPathEmpty
	}
	return PathStep{Key: rest[:end]}, rest[end:], nil
}

// bracketStep reads what stands behind an opening bracket.
func bracketStep(rest string) (step PathStep, after string, err error) {
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		key, after, found := strings.Cut(rest[1:], rest[:1]+"]")
		if !found {
			return step, "", errPathBracket
		}
		return PathStep{Key: key}, after, nil
	}
	inner, after, found := strings.Cut(rest, "]")
	if !found {
		return step, "", errPathBracket
	}
	if key, equal, entry := strings.Cut(inner, "="); entry && key != "" && equal != "" {
		return PathStep{Key: key, Equal: equal, Entry: true}, after, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 {
		return step, "", errors.New("a bracket holds neither an index, nor KEY=VALUE, nor a key in quotes")
	}
	return PathStep{Index: index, IsIndex: true}, after, nil
}
