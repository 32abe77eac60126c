package config

import "strings"

// meets says whether one file can be matched by both globs. Where both have a **
// before their end, a folder of one deep below a folder of the other could always
// be made up (a/**/dev and a/**/prod both match a/dev/prod/x); that does not
// count, so such globs meet only where they end together.
func (g *pathGlob) meets(h *pathGlob) bool {
	together := g.innerAny() && h.innerAny()
	a, b := g.segments, h.segments
	reached := newGrid(len(a)+1, len(b)+1)
	reached.set(0, 0)
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			if !reached.has(i, j) {
				continue
			}
			if ends(a[i:], b[j:], together) {
				return true
			}
			step(reached, a, b, i, j)
		}
	}
	return false
}

// ends says whether the rest of two globs still lets a file match both.
func ends(a, b []segmentGlob, together bool) bool {
	switch {
	case len(a) == 0:
		return !together || len(b) == 0 || len(b) == 1 && b[0].any
	case len(b) == 0:
		return !together || len(a) == 1 && a[0].any
	}
	return false
}

// step marks what can be reached with one more segment of either glob.
func step(reached grid, a, b []segmentGlob, i, j int) {
	if i == len(a) || j == len(b) {
		return
	}
	if a[i].any {
		reached.set(i+1, j)
		if !b[j].any {
			reached.set(i, j+1)
		}
	}
	if b[j].any {
		reached.set(i, j+1)
		if !a[i].any {
			reached.set(i+1, j)
		}
	}
	if !a[i].any && !b[j].any && a[i].meets(&b[j]) {
		reached.set(i+1, j+1)
	}
}

// innerAny says whether ** stands before the end.
func (g *pathGlob) innerAny() bool {
	for i := range max(0, len(g.segments)-1) {
		if g.segments[i].any {
			return true
		}
	}
	return false
}

// meets says whether one text fits both segments.
func (s *segmentGlob) meets(t *segmentGlob) bool {
	switch {
	case s.parts == nil:
		_, ok := t.match(s.literal)
		return ok
	case t.parts == nil:
		_, ok := s.match(t.literal)
		return ok
	}
	return globsMeet(strings.Join(s.parts, "*"), strings.Join(t.parts, "*"))
}

// covers says whether the glob surely matches everything that h matches.
func (g *pathGlob) covers(h *pathGlob) bool {
	x, p := g.segments, h.segments
	reached := newGrid(len(x)+1, len(p)+1)
	reached.set(0, 0)
	for i := range len(x) + 1 {
		for j := range len(p) + 1 {
			if !reached.has(i, j) {
				continue
			}
			if i == len(x) || i == len(x)-1 && x[i].any {
				return true
			}
			coverStep(reached, x, p, i, j)
		}
	}
	return false
}

func coverStep(reached grid, x, p []segmentGlob, i, j int) {
	if x[i].any {
		reached.set(i+1, j)
	}
	if j == len(p) {
		return
	}
	switch {
	case x[i].any:
		reached.set(i, j+1)
	case !p[j].any && x[i].covers(&p[j]):
		reached.set(i+1, j+1)
	}
}

// covers says whether the segment fits everything that t fits.
func (s *segmentGlob) covers(t *segmentGlob) bool {
	if t.parts == nil {
		_, ok := s.match(t.literal)
		return ok
	}
	if s.parts == nil {
		return false
	}
	mine, other := strings.Join(s.parts, "*"), strings.Join(t.parts, "*")
	return mine == "*" || mine == other
}

// grid is a table of flags, for comparing two lists without trying anything
// twice.
type grid struct {
	width int
	flags []bool
}

func newGrid(height, width int) grid {
	return grid{width: width, flags: make([]bool, height*width)}
}

func (g grid) set(i, j int)      { g.flags[i*g.width+j] = true }
func (g grid) has(i, j int) bool { return g.flags[i*g.width+j] }
