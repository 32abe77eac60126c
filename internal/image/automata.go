package image

// meeting is a state of the product of two globs and a grammar.
type meeting struct {
	a, b    int // how much of each glob is read
	grammar uint8
}

// freeBytes stand for all bytes where both globs have a wildcard: one byte of
// each kind that the grammars tell apart.
const freeBytes = "0._-:"

// grammarStates bounds the states of both grammars.
const grammarStates = 8

// search walks the product of two globs and a grammar. Each state is visited
// once, and there are at most len(a)*len(b)*grammarStates of them.
type search struct {
	a, b string
	seen []bool
	todo []meeting
}

func (s *search) visit(m meeting) {
	at := (m.a*(len(s.b)+1)+m.b)*grammarStates + int(m.grammar)
	if !s.seen[at] {
		s.seen[at] = true
		s.todo = append(s.todo, m)
	}
}

// automataMeet says whether a text of the grammar can match both globs.
func automataMeet(a, b string, next func(uint8, byte) (uint8, bool), accepts func(uint8) bool) bool {
	s := search{a: a, b: b, seen: make([]bool, (len(a)+1)*(len(b)+1)*grammarStates)}
	s.visit(meeting{})
	for len(s.todo) > 0 {
		m := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if m.a == len(a) && m.b == len(b) && accepts(m.grammar) {
			return true
		}
		if starAt(a, m.a) {
			s.visit(meeting{m.a + 1, m.b, m.grammar})
		}
		if starAt(b, m.b) {
			s.visit(meeting{m.a, m.b + 1, m.grammar})
		}
		common := commonBytes(a, b, m)
		for i := range len(common) {
			if grammar, ok := next(m.grammar, common[i]); ok {
				s.visit(meeting{advance(a, m.a), advance(b, m.b), grammar})
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
