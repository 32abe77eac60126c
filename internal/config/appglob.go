package config

import "strings"

// An application glob is a name in which * stands for any characters, also none.

// validAppGlob says whether some application can have a name that matches.
func validAppGlob(s string) bool {
	if s == "" || len(s) > 2*maxName {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) && s[i] != '*' {
			return false
		}
	}
	return strings.Contains(s, "*") || ValidName(s)
}

// MatchGlob says whether a text, such as the name of a check, fits a glob in which
// * stands for any characters, also none.
func MatchGlob(glob, text string) bool { return globMatch(glob, text) }

// globMatch says whether a text fits a glob in which * stands for any characters.
func globMatch(glob, text string) bool {
	first, rest, wild := strings.Cut(glob, "*")
	if !wild {
		return glob == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], after
	}
}

// globsMeet says whether one text fits both globs. Only the ends decide when
// both have a wildcard: what stands between can always be written.
func globsMeet(a, b string) bool {
	switch {
	case !strings.Contains(a, "*"):
		return globMatch(b, a)
	case !strings.Contains(b, "*"):
		return globMatch(a, b)
	}
	aFirst, bFirst := a[:strings.Index(a, "*")], b[:strings.Index(b, "*")]
	aLast, bLast := a[strings.LastIndex(a, "*")+1:], b[strings.LastIndex(b, "*")+1:]
	return (strings.HasPrefix(aFirst, bFirst) || strings.HasPrefix(bFirst, aFirst)) &&
		(strings.HasSuffix(aLast, bLast) || strings.HasSuffix(bLast, aLast))
}

// anyGlobMeets says whether two lists of globs have a name in common; an empty
// list means all names.
func anyGlobMeets(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if globsMeet(x, y) {
				return true
			}
		}
	}
	return false
}

// anyGlobMatches says whether a name fits one of the globs; an empty list means
// all names.
func anyGlobMatches(globs []string, name string) bool {
	if len(globs) == 0 {
		return true
	}
	for _, glob := range globs {
		if globMatch(glob, name) {
			return true
		}
	}
	return false
}
