package git

import (
	"iter"
	"strconv"
	"strings"

	"promoter/internal/fault"
)

// line is one line of a tree object. The library's own decoder maps modes that it
// holds for odd to usual ones, and a rewritten tree must keep them.
type line struct {
	mode string // octal digits, as they stand there
	name string
	id   ID
	kind kind
}

// kind is what a line names.
type kind int

const (
	kindNone kind = iota
	kindFile
	kindFolder
	kindSymlink
	kindSubmodule
)

// lines yields the lines of a tree object. It stops after the first error, an
// Invalid fault: no honest Git writes such a tree.
func lines(tree string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for rest := tree; rest != ""; {
			l, after, ok := cutLine(rest)
			if !ok {
				yield(line{}, fault.New(fault.Invalid, "the tree is malformed at byte %d", len(tree)-len(rest)))
				return
			}
			if !yield(l, nil) {
				return
			}
			rest = after
		}
	}
}

// cutLine splits the first line off: mode, space, name, zero byte, id.
func cutLine(tree string) (l line, rest string, ok bool) {
	mode, rest, _ := strings.Cut(tree, " ")
	name, rest, _ := strings.Cut(rest, "\x00")
	if l.kind = kindOf(mode); l.kind == kindNone || len(rest) < len(l.id) {
		return line{}, "", false
	}
	l.mode, l.name = mode, name
	copy(l.id[:], rest)
	return l, rest[len(l.id):], true
}

// kindOf returns what a mode says, and kindNone for one that Git does not have.
func kindOf(mode string) kind {
	switch mode {
	case modeFile, modeExecutable:
		return kindFile
	case modeFolder:
		return kindFolder
	}
	bits, err := strconv.ParseUint(mode, 8, 18)
	if err != nil {
		return kindNone
	}
	switch bits & 0o170000 {
	case 0o100000:
		return kindFile
	case 0o040000:
		return kindFolder
	case 0o120000:
		return kindSymlink
	case 0o160000:
		return kindSubmodule
	}
	return kindNone
}

// The usual modes.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeFolder     = "40000"
)
