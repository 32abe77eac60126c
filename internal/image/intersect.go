package image

import "strings"

// Intersects says whether one repository can match both patterns. It is exact
// but for the limit on the length of names: patterns that only a name over that
// limit would match are said to intersect.
func (p Pattern) Intersects(q Pattern) bool {
	switch {
	case p.IsExact():
		return q.Match(p.exact)
	case q.IsExact():
		return p.Match(q.exact)
	case p.text == "" || q.text == "":
		return false
	default:
		return hostsMeet(p.host, q.host) && pathsMeet(p.path, q.path)
	}
}

// pathsMeet says whether one path can match both lists of components. reached[j]
// says, for the present i, whether a[:i] and b[:j] have a common path.
func pathsMeet(a, b []string) bool {
	previous, reached := make([]bool, len(b)+1), make([]bool, len(b)+1)
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			reached[j] = i == 0 && j == 0 ||
				i > 0 && a[i-1] == anySegments && (previous[j] || j > 0 && reached[j-1]) ||
				j > 0 && b[j-1] == anySegments && (reached[j-1] || i > 0 && previous[j]) ||
				i > 0 && j > 0 && previous[j-1] && componentsMeet(a[i-1], b[j-1])
		}
		previous, reached = reached, previous
	}
	return previous[len(b)]
}

// componentsMeet says whether one valid component can match both globs.
func componentsMeet(a, b string) bool {
	if a == anySegments || b == anySegments {
		return true
	}
	return automataMeet(a, b, func(state uint8, c byte) (uint8, bool) {
		next := componentState(state).next(c)
		return uint8(next), next != componentInvalid
	}, func(state uint8) bool { return componentState(state) == componentWord })
}

// hostsMeet says whether one valid host can match both globs. Of hosts with
// brackets only equal ones do: a wildcard beside them stands for every host.
func hostsMeet(a, b string) bool {
	switch {
	case !strings.Contains(a, "*"):
		return globMatch(b, a)
	case !strings.Contains(b, "*"):
		return globMatch(a, b)
	default:
		return automataMeet(a, b, nextHost, func(state uint8) bool {
			return state == hostLabel || state == hostPort
		})
	}
}

// States of the automaton that reads a domain name with an optional port.
const (
	hostStart uint8 = iota // before a label
	hostLabel
	hostDash
	hostColon
	hostPort
)

func nextHost(state uint8, c byte) (uint8, bool) {
	inPort := state == hostColon || state == hostPort
	switch {
	case inPort:
		return hostPort, is(c, classDigit)
	case is(c, classLower|classUpper|classDigit):
		return hostLabel, true
	case c == '-':
		return hostDash, state != hostStart
	case c == '.':
		return hostStart, state == hostLabel
	case c == ':':
		return hostColon, state == hostLabel
	default:
		return 0, false
	}
}
