package image

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// VersionOf returns the part of a tag that the policy compares, as users write it; empty: the policy does
// not select the tag, or follows a moving one, whose name is no version. Without a policy, it is the
// whole tag.
func (p *Policy) VersionOf(tag string) string {
	switch {
	case p == nil || p.strategy == byRelease:
		return tag
	case p.strategy == byTag:
		return ""
	}
	found, ok := p.read(tag)
	if !ok {
		return ""
	}
	return found.Version
}

// Named returns a version with the part of its tag that the policy compares. Where the policy does not know it, it
// stays as it is.
func (p *Policy) Named(v Version) Version {
	if text := p.VersionOf(v.Tag); v.Tag != "" && text != "" {
		v.Version = text
	}
	return v
}

// TagOf returns the only tag that has a version, as VersionOf returns it. It returns false if no tag can have
// it, or if several can.
func (p *Policy) TagOf(version string) (tag string, ok bool) {
	before, after, one := p.around()
	if !one {
		return "", false
	}
	tag = before + version + after
	if p != nil && p.chart {
		tag = strings.ReplaceAll(tag, "+", "_")
	}
	return tag, ValidTag(tag) && p.VersionOf(tag) == version
}

// DeterminesTags reports whether each version has only one tag.
func (p *Policy) DeterminesTags() bool {
	_, _, one := p.around()
	return one
}

// around returns the text of a tag before and after the part that is compared. It returns false if that is not the same in
// all tags.
func (p *Policy) around() (before, after string, same bool) {
	switch {
	case p == nil:
		return "", "", true
	case p.strategy == byTag:
		return "", "", false
	case p.filter == nil || p.filter.SubexpIndex(versionGroup) < 0:
		return "", "", true
	default:
		return literalsAround(p.filter)
	}
}

// literalsAround returns the literal texts before and after the group of an expression that is compared: only
// ^BEFORE(?P<version>…)AFTER$ has the same in all matches.
func literalsAround(expression *regexp.Regexp) (before, after string, same bool) {
	parsed, err := syntax.Parse(expression.String(), syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat || len(parsed.Sub) < 3 {
		return "", "", false
	}
	last := len(parsed.Sub) - 1
	if parsed.Sub[0].Op != syntax.OpBeginText || parsed.Sub[last].Op != syntax.OpEndText {
		return "", "", false
	}
	texts, seen := [2]string{}, 0
	for _, part := range parsed.Sub[1:last] {
		switch {
		case part.Op == syntax.OpCapture && part.Name == versionGroup && seen == 0:
			seen = 1
		case part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0:
			texts[seen] += string(part.Rune)
		default:
			return "", "", false
		}
	}
	return texts[0], texts[1], seen == 1
}
