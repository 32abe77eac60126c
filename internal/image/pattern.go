package image

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// anySegments stands in the segments of a pattern for any number of components,
// also none.
const anySegments = "**"

// Pattern is a set of repositories. In a component * stands for any characters
// but the slash. A component ** stands for any number of components: at the end
// for one or more, as in .gitignore. At the front it stands for a host and any
// components below it. Names of Docker Hub are normalized as in Repository, so
// acme/* is docker.io/acme/*. A * alone at the front is refused, because it could
// stand for a host or for a namespace of Docker Hub.
//
// The zero value matches nothing.
type Pattern struct {
	text  string
	exact Repository // set when the pattern has no wildcard, and then the rest is not
	host  string
	path  []string
}

// ParsePattern reads a pattern. A pattern has no tag and no digest.
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
	pattern := Pattern{text: s, host: host, path: path}
	if err := pattern.validate(); err != nil {
		return Pattern{}, fmt.Errorf("image pattern %s: %w", quote(s), err)
	}
	return pattern, nil
}

// splitPattern gives a pattern the normalized form that Match and Intersects
// read: a host, and components in which ** may also stand for none.
func splitPattern(segments []string) (host string, path []string) {
	host, path = dockerHub, segments
	switch first := segments[0]; {
	case first == anySegments:
		host = "*"
	case len(segments) > 1 && namesHost(first):
		host, path = normalizeHost(first), segments[1:]
	}
	if last := len(path) - 1; path[last] == anySegments {
		path = slices.Concat(path[:last], []string{"*", anySegments})
	}
	if host == dockerHub {
		path = hubPattern(path)
	}
	return host, path
}

// hubPattern gives a pattern of Docker Hub at least the two components that each
// repository there has.
func hubPattern(path []string) []string {
	switch fixed := len(path) - count(path, anySegments); {
	case len(path) == 1:
		return []string{strings.TrimSuffix(officialPrefix, "/"), path[0]}
	case fixed == 1:
		return slices.Insert(slices.Clone(path), slices.Index(path, anySegments), "*")
	default:
		return path
	}
}

func count(segments []string, wanted string) (n int) {
	for _, segment := range segments {
		if segment == wanted {
			n++
		}
	}
	return n
}

var (
	errFront   = errors.New("begin with a host, or with ** for any host: * could be a host or a namespace of Docker Hub")
	errStars   = errors.New("** must stand alone between slashes")
	errLiteral = errors.New("only lower-case letters, digits, '.', '_', '-' and * may stand in a path, and it has no tag")
	errGlob    = errors.New("no valid name can match it")
)

func (p Pattern) validate() error {
	if !validHostGlob(p.host) {
		return errHost
	}
	for _, segment := range p.path {
		switch {
		case segment == anySegments:
		case strings.Contains(segment, anySegments):
			return errStars
		case !all(strings.ReplaceAll(segment, "*", ""), classTag) || strings.ToLower(segment) != segment:
			return errLiteral
		case !componentsMeet(segment, "*"):
			return errGlob
		}
	}
	return nil
}

// validHostGlob says whether a host may match; a bracketed address has no
// wildcards.
func validHostGlob(host string) bool {
	if !strings.Contains(host, "*") {
		return validHost(host)
	}
	return len(host) <= maxHost && !strings.Contains(host, anySegments) && hostsMeet(host, "*")
}

// Match says whether the repository is in the set.
func (p Pattern) Match(r Repository) bool {
	if p.IsExact() {
		return p.exact == r
	}
	if r.IsZero() || p.text == "" || !globMatch(p.host, r.host) {
		return false
	}
	var few [16]string // most paths are shorter, and then nothing is allocated
	return segmentsMatch(p.path, r.appendSegments(few[:0]))
}

// MatchPath says whether a repository with that full path is in the set on one host
// or another.
func (p Pattern) MatchPath(path string) bool {
	if p.IsExact() {
		return p.exact.Path() == path
	}
	return p.text != "" && segmentsMatch(p.path, strings.Split(path, "/"))
}

// appendSegments appends the components of the full path.
func (r Repository) appendSegments(segments []string) []string {
	if r.official() {
		segments = append(segments, strings.TrimSuffix(officialPrefix, "/"))
	}
	for rest, more := r.path, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		segments = append(segments, segment)
	}
	return segments
}

// IsExact says that the pattern has no wildcard.
func (p Pattern) IsExact() bool { return !p.exact.IsZero() }

// Repository returns the one repository of an exact pattern.
func (p Pattern) Repository() (Repository, bool) { return p.exact, p.IsExact() }

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Prefix returns what all matches have in common: the host, empty where it has a
// star, and the components of the path before the first with a star. Both are
// normalized, as those of a Repository are.
func (p Pattern) Prefix() (host, path string) {
	if p.IsExact() {
		return p.exact.Host(), p.exact.Path()
	}
	if !strings.Contains(p.host, "*") {
		host = p.host
	}
	literal := p.path
	if star := slices.IndexFunc(p.path, func(s string) bool { return strings.Contains(s, "*") }); star >= 0 {
		literal = p.path[:star]
	}
	return host, strings.Join(literal, "/")
}

// Literals returns the literal parts of the path, in order. The path of every
// match holds all of them, so a text without one of them names no match. The
// host and Docker Hub's library/ are no such parts, because files leave them out
// or spell them in other ways.
func (p Pattern) Literals() []string {
	path := p.path
	if p.IsExact() {
		path = strings.Split(p.exact.path, "/")
	} else if p.host == dockerHub && len(path) == 2 && path[0]+"/" == officialPrefix {
		path = path[1:]
	}
	var literals []string
	for _, segment := range path {
		for literal := range strings.SplitSeq(segment, "*") {
			if literal != "" {
				literals = append(literals, literal)
			}
		}
	}
	return literals
}
