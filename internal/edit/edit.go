// Package edit is the vocabulary of reading and writing image references in
// files: what was found (Reference), what was or would be changed (Change) and
// what was left alone with a reason (Refusal). It knows no file format; the
// updater fills these values, the core decides over them, and the pull request
// body, the command line and the pages print them.
package edit

import (
	"fmt"

	"promoter/internal/image"
)

// Position is a place in a file. Line and Column count from 1; a column is a
// Unicode character and a byte order mark is none.
type Position struct {
	File   string `json:"file"` // slash separated, relative to the root of the branch
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:column, the form that editors jump to.
func (p Position) String() string {
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Shape names the form in which a reference stands in a file. It is the "kind"
// of a change in the output of plan.
type Shape string

// Reference is one place in a file that says which version of a component runs.
// It may stand on several scalars (repository, tag, digest); Position is the
// first of those that hold the version.
type Reference struct {
	Component  string
	Shape      Shape
	Key        string // of the mapping, or of the list in it, that the version stands in; may be empty
	Position   Position
	Repository image.Repository
	Tag        string // empty: the file does not say
	Digest     string // algorithm:hex; empty: the file does not say
}

// Change is one scalar that gets another text. From and To are the exact texts
// of the scalar in the file, quotes included, so that replacing From by To at
// Position gives the new file.
type Change struct {
	Component string `json:"component"`
	Shape     Shape  `json:"kind"`
	Position
	From string `json:"from"`
	To   string `json:"to"`
}

// Refusal is a file, or a place in one, that is left as it is although it holds
// or may hold a reference. Nothing is written for an application with one.
type Refusal struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`      // 0: the file is not there
	Component string `json:"component,omitempty"` // empty: any of the application's
	Reason    string `json:"reason"`
}

// String returns file:line: reason, without the line where there is none.
func (r Refusal) String() string {
	if r.Line == 0 {
		return r.File + ": " + r.Reason
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Reason)
}
