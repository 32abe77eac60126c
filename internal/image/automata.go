package image

// meeting is a state of the product of two globs and a grammar.
type meeting struct {
	a, b    int // how much of each glob is read
	grammar uint8
}

// freeBytes stand for all bytes where both globs have a wildcard: one byte of
// each kind that the grammars tell apart.
const freeBytes = "0._-:"

// automataMeet says whether a text of the grammar can match both globs, by a
// search through the product of the three automata. The states are bounded by
// the product of their sizes, and each is visited once.
func automataMeet(a, b string, next func(uint8, byte) (uint8, bool), accepts func(uint8) bool) bool {
	seen := map[meeting]bool{{}: true}
	queue := []meeting{{}}
	visit := func(m meeting) {
		if !seen[m] {
			seen[m] = true
			queue = append(queue, m)
		}
	}
	for len(queue) > 0 {
		m := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if m.a == len(a) && m.b == len(b) && accepts(m.grammar) {
			return true
		}
		if starAt(a, m.a) {
			visit(meeting{m.a + 1, m.b, m.grammar})
		}
		if starAt(b, m.b) {
			visit(meeting{m.a, m.b + 1, m.grammar})
		}
		for _, c := range []byte(commonBytes(a, b, m)) {
			if grammar, ok := next(m.grammar, c); ok {
				visit(meeting{advance(a, m.a), advance(b, m.b), grammar})
			}
		}
	}
	return false
}

func starAt(glob string, i int) bool { return i < len(glob) && glob[i] == '*' }

// advance reads one byte: a wildcard stays where it is.
func advance(glob string, i int) int {
	if starAt(glob, i) {
		return i
	}
	return i + 1
}

// commonBytes returns the bytes that both globs can read next.
func commonBytes(a, b string, m meeting) string {
	switch {
	case m.a == len(a) || m.b == len(b):
		return ""
	case starAt(a, m.a) && starAt(b, m.b):
		return freeBytes
	case starAt(a, m.a):
		return b[m.b : m.b+1]
	case starAt(b, m.b) || a[m.a] == b[m.b]:
		return a[m.a : m.a+1]
	default:
		return ""
	}
}
