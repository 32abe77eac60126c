package suggest

import (
	"cmp"
	"slices"
	"strings"
)

// glob writes the path of the spot with the application in one column and * in
// the others that vary.
func (s *spot) glob(column int, varying []int) string {
	segments := slices.Clone(s.segments[:s.next])
	for _, i := range varying {
		stand := "*"
		if i == column {
			stand = placeholder
		}
		if i == s.at {
			segments[i] = s.around(s.spelled(), stand)
		} else {
			segments[i] = stand
		}
	}
	switch {
	case column >= s.next:
		segments = append(segments, placeholder)
	case column == noColumn:
		segments = segments[:s.end()]
	}
	return strings.Join(segments, "/")
}

// spelled is the name of the environment as the path has it.
func (s *spot) spelled() string {
	segment := s.segments[s.at]
	return segment[len(s.before) : len(segment)-len(s.after)]
}

// end is the first segment behind the name of the environment.
func (s *spot) end() int {
	if s.nested() {
		return s.at + 2
	}
	return s.at + 1
}

// tidy sorts globs, the deeper first, and drops those that others cover.
func tidy(globs []string) []string {
	slices.Sort(globs)
	globs = slices.Compact(globs)
	var out []string
	for _, g := range globs {
		covered := slices.ContainsFunc(globs, func(other string) bool { return strings.HasPrefix(g, other+"/") })
		if !covered {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/"))
	})
	return out
}
