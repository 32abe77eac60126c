package node

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Path is a YAML path: how to reach a node from the root of a document. It has at
// least one step if ParsePath returned it.
type Path []step

// step is one part of a YAML path: a mapping key, or a list entry selected by
// its index or by one of its keys.
type step struct {
	key   string
	index int  // with list
	list  bool // the step selects a list entry
	// where selects the entry whose key has the value: [name=web].
	where, is string
}

// ParsePath parses a path: keys separated by dots, "quoted" or ['quoted'] if
// they contain dots, [2] for an index and [name=web] for an entry.
func ParsePath(path string) (Path, error) {
	var steps Path
	for rest := path; rest != ""; {
		next, after, err := cutStep(strings.TrimPrefix(rest, "."))
		if err != nil {
			return nil, fmt.Errorf("the path %s: %w", path, err)
		}
		if after != "" && after[0] != '.' && after[0] != '[' {
			return nil, fmt.Errorf("the path %s: want a dot or a bracket before %q", path, after)
		}
		steps, rest = append(steps, next), after
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("the path is empty")
	}
	return steps, nil
}

// cutStep returns the first step of a path and the rest.
func cutStep(path string) (first step, rest string, err error) {
	switch {
	case path == "":
		return step{}, "", fmt.Errorf("it ends in a dot")
	case path[0] == '[':
		return cutBracket(path)
	case path[0] == '"' || path[0] == '\'':
		key, rest, err := cutQuoted(path)
		return step{key: key}, rest, err
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	if end == 0 {
		return step{}, "", fmt.Errorf("a key is empty")
	}
	return step{key: path[:end]}, path[end:], nil
}

func cutBracket(path string) (first step, rest string, err error) {
	inner := path[1:]
	if inner != "" && (inner[0] == '"' || inner[0] == '\'') {
		key, rest, err := cutQuoted(inner)
		rest, closed := strings.CutPrefix(rest, "]")
		if err == nil && !closed {
			err = fmt.Errorf("a bracket is not closed")
		}
		return step{key: key}, rest, err
	}
	inner, rest, closed := strings.Cut(inner, "]")
	if !closed {
		return step{}, "", fmt.Errorf("a bracket is not closed")
	}
	if where, is, found := strings.Cut(inner, "="); found {
		return step{list: true, where: where, is: strings.Trim(is, `"'`)}, rest, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 {
		return step{}, "", fmt.Errorf("[%s] is neither an index nor key=value", inner)
	}
	return step{list: true, index: index}, rest, nil
}

func cutQuoted(path string) (key, rest string, err error) {
	end := strings.IndexByte(path[1:], path[0])
	if end < 0 {
		return "", "", fmt.Errorf("a quote is not closed")
	}
	return path[1 : end+1], path[end+2:], nil
}

// From returns the node at the path below n, or nil.
func (p Path) From(n *yaml.Node) *yaml.Node {
	for _, s := range p {
		if n = s.from(Resolve(n)); n == nil {
			return nil
		}
	}
	return n
}

// Cut returns the path of the mapping and the key of the last step. It returns
// false if the last step selects a list entry.
func (p Path) Cut() (mapping Path, key string, found bool) {
	last := p[len(p)-1]
	return p[:len(p)-1], last.key, !last.list
}

// from applies the step to a node and returns the result, or nil.
func (s step) from(n *yaml.Node) *yaml.Node {
	switch {
	case !s.list:
		return Get(n, s.key)
	case n == nil || n.Kind != yaml.SequenceNode:
		return nil
	case s.where == "":
		if s.index < len(n.Content) {
			return Resolve(n.Content[s.index])
		}
		return nil
	}
	for _, item := range n.Content {
		if item = Resolve(item); Text(item, s.where) == s.is {
			return item
		}
	}
	return nil
}
