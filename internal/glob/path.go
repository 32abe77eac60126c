package glob

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Application is the placeholder that captures the name of an application: a whole
// segment of a path, or a part of one.
const Application = "{application}"

// Limits of one path pattern.
const (
	maxLength   = 1024 // bytes
	maxSegments = 64
)

// Error explains why a path pattern is not valid, with a hint how to fix it.
type Error struct{ Message, Hint string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Path is a compiled pattern of files. It matches a file, and every file below a
// folder that it matches, but a/** does not match a itself.
type Path struct {
	text     string
	prefix   string // literal text that every match starts with
	captures bool

	// With a capture, the captured segment consists of start, the application, and
	// end; before matches the segments in front of it with a slash behind each, and
	// rest those behind it. Without one, rest is the whole pattern.
	before     string
	depth      int // number of segments before the capture; -1: before has **
	start, end string
	rest       segments
}

// segments is a pattern of a path, or of the end of one.
type segments struct {
	exact string // matches a file; empty: there are no segments
	below string // matches everything below
}

// ParsePath compiles a pattern. A slash at the end is ignored.
func ParsePath(text string) (*Path, error) {
	fail := func(message, hint string) (*Path, error) { return nil, &Error{message, hint} } //nolint:unparam // as the results of ParsePath
	switch {
	case len(text) > maxLength || strings.Count(text, "/") >= maxSegments:
		return fail("the path is too long", "write at most 1024 bytes and 64 segments")
	case text == "":
		return fail("the path is empty", "leave paths out for the whole tree")
	case strings.HasPrefix(text, "/"):
		return fail("the path starts with a slash", "paths start at the root of the branch: remove the slash")
	case strings.Count(text, Application) > 1:
		return fail("the path has {application} twice", "keep the first {application} and write * for the other")
	}
	var parts []string
	capture := -1
	for segment := range strings.SplitSeq(strings.TrimSuffix(text, "/"), "/") {
		bare := strings.ReplaceAll(segment, Application, "")
		switch {
		case segment == "":
			return fail("the path has an empty segment", "remove the doubled slash")
		case segment == "." || segment == "..":
			return fail("the path has . or .. as a segment", "write the path from the root of the branch")
		case segment != "**" && strings.Contains(segment, "**"):
			return fail("** must stand alone between slashes", "write a/**/b")
		case strings.ContainsAny(bare, "{}"):
			return fail("the only placeholder of a path is {application}", "write {application}, or list the paths one by one")
		case strings.ContainsAny(bare, `?[]\`):
			return fail("only * and ** are wildcards", "write * for any part of a segment")
		case bare != segment && strings.Contains(segment, "*"):
			return fail("{application} and * are in one segment, so the captured name is ambiguous",
				"keep {application} with literal text around it")
		case bare != segment:
			capture = len(parts)
		case segment == "**" && len(parts) > 0 && parts[len(parts)-1] == "**":
			continue // a/**/**/b is a/**/b
		}
		parts = append(parts, segment)
	}
	p := &Path{text: text, captures: capture >= 0}
	whole := strings.Join(parts, "/")
	p.prefix = whole
	if i := strings.IndexAny(whole, "*{"); i >= 0 {
		p.prefix = whole[:i]
	}
	if p.captures {
		p.start, p.end, _ = strings.Cut(parts[capture], Application)
		p.depth = capture
		for _, part := range parts[:capture] {
			p.before += part + "/"
			if part == "**" {
				p.depth = -1
			}
		}
	}
	rest := parts[capture+1:]
	p.rest.exact = strings.Join(rest, "/")
	p.rest.below = p.rest.exact + "/**"
	if len(rest) > 0 && rest[len(rest)-1] == "**" {
		p.rest.exact += "/*" // at least one segment: a/** is what is below a
		p.rest.below = p.rest.exact
	}
	return p, nil
}

func (s segments) match(path string) bool {
	return doublestar.MatchUnvalidated(s.below, path) || doublestar.MatchUnvalidated(s.exact, path)
}

// String returns the pattern as it was written.
func (p *Path) String() string { return p.text }

// Captures reports whether the pattern has the placeholder {application}.
func (p *Path) Captures() bool { return p.captures }

// StartsIn reports whether all matches are in one top-level folder of that name, or
// are that file.
func (p *Path) StartsIn(name string) bool {
	return p.prefix == name || strings.HasPrefix(p.prefix, name+"/")
}

// MayMatch reports whether a path begins as the pattern does up to its first wildcard. Only then is more of it compared.
func (p *Path) MayMatch(path string) bool { return strings.HasPrefix(path, p.prefix) }

// Match reports whether a file matches, and returns the text that {application}
// captures. Where ** leaves a choice, the capture is the first possible segment.
func (p *Path) Match(path string) (application string, ok bool) {
	if !p.MayMatch(path) {
		return "", false
	}
	if !p.captures {
		return "", p.rest.match(path)
	}
	for i, offset := 0, 0; ; i++ {
		segment, rest, more := strings.Cut(path[offset:], "/")
		if p.depth < 0 || p.depth == i {
			application, ok := p.capture(segment)
			ok = ok && doublestar.MatchUnvalidated(p.before, path[:offset])
			if ok && (p.rest.exact == "" || more && p.rest.match(rest)) {
				return application, true
			}
		}
		if !more || i == p.depth {
			return "", false
		}
		offset += len(segment) + 1
	}
}

func (p *Path) capture(segment string) (application string, ok bool) {
	if len(segment) <= len(p.start)+len(p.end) || !strings.HasPrefix(segment, p.start) || !strings.HasSuffix(segment, p.end) {
		return "", false
	}
	return segment[len(p.start) : len(segment)-len(p.end)], true
}

// Samples returns files that the pattern matches, with a text for each wildcard that no
// pattern spells out. A pattern that matches them matches them by its own wildcards.
func (p *Path) Samples() []string {
	const unlikely = "\x01"
	one := strings.NewReplacer("**", "**", "*", unlikely, Application, unlikely).Replace(strings.TrimSuffix(p.text, "/")) + "/"
	if !strings.Contains(one, "**/") {
		return []string{one + unlikely}
	}
	many := unlikely + "/" + unlikely + "/"
	return []string{strings.ReplaceAll(one, "**/", "") + unlikely, strings.ReplaceAll(one, "**/", many) + unlikely}
}
