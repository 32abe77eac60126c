package git

// cursor finds lines in a tree while another tree is walked: both lie in Git's
// order, so that one way through each is enough. In a tree that is out of order
// it finds less than there is, and never something else.
type cursor struct {
	rest string
	at   line
	ok   bool // at is a line
}

func newCursor(tree string) *cursor {
	c := &cursor{rest: tree}
	c.advance()
	return c
}

func (c *cursor) advance() { c.at, c.rest, c.ok = cutLine(c.rest) }

// find returns the line that stands where l does, and the zero line where there is
// none. A file and a folder of one name do not stand in the same place.
func (c *cursor) find(l line) line {
	for c.ok && compareLines(c.at, l) < 0 {
		c.advance()
	}
	if c.ok && compareLines(c.at, l) == 0 {
		return c.at
	}
	return line{}
}
