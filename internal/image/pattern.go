package image

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/glob"
)

// anySegments matches any number of path components.
const anySegments = "**"

// Pattern is a set of repositories. In a component, * matches any text without a
// slash. A component ** matches any number of components: at the end one or more, as
// in .gitignore; at the front a host and any components below it. Names of Docker
// Hub are normalized as in Repository, so acme/* is docker.io/acme/*. A single * at
// the front is refused, because it could be a host or a namespace of Docker Hub.
//
// The zero value matches nothing.
type Pattern struct {
	text  string
	exact Repository // set when the pattern has no wildcard, and then the rest is not
	host  string
	path  string // in which ** may also match no component
}

// ParsePattern parses a pattern. A pattern has no tag and no digest.
func ParsePattern(s string) (Pattern, error) {
	if !strings.Contains(s, "*") {
		exact, err := ParseRepository(s)
		if err != nil {
			return Pattern{}, err
		}
		return Pattern{text: s, exact: exact}, nil
	}
	if len(s) > maxName {
		return Pattern{}, fmt.Errorf("image pattern %s: %w", quote(s), errTooLong)
	}
	segments := strings.Split(s, "/")
	if segments[0] == "*" {
		return Pattern{}, fmt.Errorf("image pattern %s: %w", quote(s), errFront)
	}
	host, path := splitPattern(segments)
	if err := validatePattern(host, path); err != nil {
		return Pattern{}, fmt.Errorf("image pattern %s: %w", quote(s), err)
	}
	return Pattern{text: s, host: host, path: strings.Join(path, "/")}, nil
}

// splitPattern normalizes a pattern: it returns the host, and components in which **
// may also match none.
func splitPattern(segments []string) (host string, path []string) {
	host, path = DockerHub, segments
	switch first := segments[0]; {
	case first == anySegments:
		host = "*"
	case len(segments) > 1 && namesHost(first):
		host, path = normalizeHost(first), segments[1:]
	}
	if last := len(path) - 1; path[last] == anySegments {
		path = slices.Concat(path[:last], []string{"*", anySegments})
	}
	if host == DockerHub {
		path = hubPattern(path)
	}
	return host, path
}

// hubPattern makes a pattern of Docker Hub require at least the two components that
// each repository there has.
func hubPattern(path []string) []string {
	fixed := 0
	for _, segment := range path {
		if segment != anySegments {
			fixed++
		}
	}
	switch {
	case len(path) == 1:
		return []string{strings.TrimSuffix(officialPrefix, "/"), path[0]}
	case fixed == 1:
		return slices.Insert(slices.Clone(path), slices.Index(path, anySegments), "*")
	default:
		return path
	}
}

var (
	errFront   = errors.New("start with a host, or with ** for any host: * could be a host or a namespace of Docker Hub")
	errStars   = errors.New("** must stand alone between slashes")
	errLiteral = errors.New("a path has only lower-case letters, digits, '.', '_', '-', and *, and no tag")
	errGlob    = errors.New("no valid name can match it")
)

// validatePattern refuses what no valid name can match. A wildcard is checked with a
// text that is valid wherever any text is: a letter, and in a host, which may end in a
// port, a digit.
func validatePattern(host string, path []string) error {
	if strings.Contains(host, anySegments) || !validHost(strings.ReplaceAll(host, "*", "0")) ||
		strings.Contains(host, "*") && strings.HasPrefix(host, "[") {
		return errHost
	}
	for _, segment := range path {
		switch {
		case segment == anySegments:
		case strings.Contains(segment, anySegments):
			return errStars
		case !all(strings.ReplaceAll(segment, "*", ""), classTag) || strings.ToLower(segment) != segment:
			return errLiteral
		case !validComponent(strings.ReplaceAll(segment, "*", "a")):
			return errGlob
		}
	}
	return nil
}

// Match reports whether the repository is in the set.
func (p Pattern) Match(r Repository) bool {
	switch {
	case p.IsExact():
		return p.exact == r
	case r.IsZero() || p.text == "":
		return false
	case strings.HasPrefix(r.host, "["): // an address has no parts that a wildcard could match
		return (p.host == r.host || p.host == "*") && glob.Match(p.path, r.Path())
	}
	return glob.Match(p.host, r.host) && glob.Match(p.path, r.Path())
}

// MatchPath reports whether a repository with that full path is in the set, on
// whatever host.
func (p Pattern) MatchPath(path string) bool {
	if p.IsExact() {
		return p.exact.Path() == path
	}
	return p.text != "" && glob.Match(p.path, path)
}

// Equal reports whether both patterns were normalized to the same one.
func (p Pattern) Equal(q Pattern) bool {
	return p.exact == q.exact && p.host == q.host && p.path == q.path
}

// IsExact reports whether the pattern has no wildcard.
func (p Pattern) IsExact() bool { return !p.exact.IsZero() }

// Repository returns the one repository of an exact pattern.
func (p Pattern) Repository() (Repository, bool) { return p.exact, p.IsExact() }

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// MatchesWords reports whether the pattern names neither a registry other than Docker Hub
// nor an owner there, so that it matches words with a colon, such as system:masters.
func (p Pattern) MatchesWords() bool {
	host, path := p.Prefix()
	return !p.IsExact() && (host == "" || host == DockerHub) && (path == "" || path == strings.TrimSuffix(officialPrefix, "/"))
}

// Prefix returns what all matches have in common: the host, empty where it has a
// wildcard, and the components of the path before the first with a wildcard. Both are
// normalized, as those of a Repository are.
func (p Pattern) Prefix() (host, path string) {
	if p.IsExact() {
		return p.exact.Host(), p.exact.Path()
	}
	if !strings.Contains(p.host, "*") {
		host = p.host
	}
	path, _, wild := strings.Cut(p.path, "*")
	if wild {
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return host, path
}

// Literals returns the literal parts of the path, in order. The path of every match
// contains all of them, so a text without one of them names no match. The host and
// Docker Hub's library/ are left out, because files omit them or spell them in other
// ways.
func (p Pattern) Literals() []string {
	path := p.path
	if p.IsExact() {
		path = p.exact.path
	} else if short, official := strings.CutPrefix(path, officialPrefix); official && p.host == DockerHub && !strings.Contains(short, "/") {
		path = short
	}
	literals := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '*' })
	return append([]string(nil), literals...)
}
