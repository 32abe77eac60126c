package image

import (
	"fmt"
	"strings"
)

// Prefix names a repository and all repositories below it: HOST, HOST/PATH, or a name of
// Docker Hub. It matches whole components only: quay.io/acme is no prefix of
// quay.io/acmecorp/web.
type Prefix struct{ host, path string }

// ParsePrefix parses a prefix. It has no tag and no digest.
func ParsePrefix(s string) (Prefix, error) {
	if !strings.Contains(s, "/") && namesHost(s) {
		if !validHost(s) {
			return Prefix{}, fmt.Errorf("registry %s: %w", quote(s), errHost)
		}
		return Prefix{host: normalizeHost(s)}, nil
	}
	r, err := ParseRepository(s)
	if err != nil {
		return Prefix{}, err
	}
	return Prefix(r), nil
}

// Replace returns the repository at the same path below another prefix. It returns false for
// a repository that is not below this one.
func (p Prefix) Replace(r Repository, with Prefix) (Repository, bool) {
	rest, below := p.cut(r)
	if !below {
		return Repository{}, false
	}
	replaced, err := ParseRepository(with.String() + rest)
	return replaced, err == nil
}

// cut returns what a repository has after the prefix.
func (p Prefix) cut(r Repository) (rest string, below bool) {
	switch path := r.Path(); {
	case p.host != r.host:
		return "", false
	case p.path == "":
		return "/" + path, true
	case path == p.path, p.host == DockerHub && path == officialPrefix+p.path:
		return "", true
	default:
		rest, below = strings.CutPrefix(path, p.path+"/")
		return "/" + rest, below
	}
}

// Contains reports whether a repository is the prefix or below it.
func (p Prefix) Contains(r Repository) bool {
	_, below := p.cut(r)
	return below
}

// Patterns returns the patterns of all repositories at and below the prefix.
func (p Prefix) Patterns() []Pattern {
	var patterns []Pattern
	for _, text := range []string{p.String(), p.String() + "/" + anySegments} {
		if pattern, err := ParsePattern(text); err == nil && (p.path != "" || text != p.host) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

// String returns the name as HOST or HOST/PATH.
func (p Prefix) String() string {
	if p.path == "" {
		return p.host
	}
	return p.host + "/" + p.path
}

// Base returns the last component. Every reference to a repository at the prefix contains it.
func (p Prefix) Base() string {
	name := p.String()
	return name[strings.LastIndexByte(name, '/')+1:]
}
