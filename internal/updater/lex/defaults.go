package lex

import (
	"regexp"
	"strings"
)

// Filled is a text in which each variable is replaced by its default, as in Compose:
// ${REGISTRY:-quay.io}/acme/web:${TAG:-1.4.2}.
type Filled struct {
	Text   string
	pieces []piece
}

// piece is a part of the text that is also in the original.
type piece struct {
	start, end int // in the text
	original   int // where it starts in the original
	fallback   bool
}

// variableHead matches the start of a variable with a default.
var variableHead = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=]`)

// maxFilled limits how deep defaults are nested.
const maxFilled = 4

// FillDefaults fills in the defaults. It returns false if the text has no variable, or one
// without a default.
func FillDefaults(original string) (Filled, bool) {
	f := Filled{}
	complete := f.fill(original, 0, len(original), 0)
	filled := false
	for _, p := range f.pieces {
		filled = filled || p.fallback
	}
	return f, complete && filled
}

func (f *Filled) fill(original string, start, end, depth int) bool {
	if depth > maxFilled {
		return false
	}
	for start < end {
		literal := end
		if at := strings.IndexAny(original[start:end], "${}"); at >= 0 {
			literal = start + at
		}
		f.pieces = append(f.pieces, piece{len(f.Text), len(f.Text) + literal - start, start, depth > 0})
		f.Text += original[start:literal]
		if literal == end {
			return true
		}
		head := variableHead.FindString(original[literal:end])
		closing := ClosingBrace(original[literal:end])
		if head == "" || closing < 0 || !f.fill(original, literal+len(head), literal+closing, depth+1) {
			return false
		}
		start = literal + closing + 1
	}
	return true
}

// ClosingBrace returns the offset of the brace that closes the first one, or -1.
func ClosingBrace(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// Original returns the place in the original of a part of the text, and whether that is in the
// default of a variable. It returns false if the part is not in one piece.
func (f *Filled) Original(start, end int) (from, to int, fallback, found bool) {
	for _, p := range f.pieces {
		if p.start <= start && end <= p.end && start < end {
			from = p.original + start - p.start
			return from, from + end - start, p.fallback, true
		}
	}
	return 0, 0, false, false
}
