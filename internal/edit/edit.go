// Package edit is the vocabulary of reading and writing image references in files: what
// was found (Reference), what was or would be changed (Change), and what was refused with
// a reason (Refusal). It is independent of file formats: the updater creates these values,
// the core decides about them, and pull requests and the command line show them.
package edit

import (
	"cmp"
	"fmt"
	"slices"

	"promoter/internal/image"
)

// Position is a location in a file. Line and Column count from 1; a column is a Unicode
// character, and a byte order mark does not count.
type Position struct {
	File   string `json:"file"` // slash separated, relative to the root of the branch
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:column, the form that editors jump to.
func (p Position) String() string {
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Compare sorts positions by file, line, and column.
func (p Position) Compare(other Position) int {
	return cmp.Or(cmp.Compare(p.File, other.File), cmp.Compare(p.Line, other.Line), cmp.Compare(p.Column, other.Column))
}

// Shape is the form of a reference in a file. It is the "kind" of a change in the output
// of plan.
type Shape string

// Reference is one location in a file that determines which version of a component runs.
// It may consist of several scalars (repository, tag, digest); Position is the first of
// those with the version.
type Reference struct {
	Component  string
	Shape      Shape
	Key        string // of the mapping, or of the list in it, that contains the version; may be empty
	Position   Position
	Repository image.Repository
	// Mirror is the repository that the file names, if it is a mirror of Repository.
	Mirror image.Repository
	Tag    string // empty: not in the file
	Digest string // algorithm:hex; empty: the file does not say
	// Marked is set if a user named the component for this location.
	Marked bool
	// Form is the parts that pin requires here, if the reference has others and can be
	// rewritten. The zero value: it has the right ones.
	Form Form
	// Fixed is set if the version cannot be written as it is now in the form that pin requires.
	Fixed bool
	// Template is how the config, or a marker, makes the text of the place of a version, and Text is what the
	// file has there. Both are empty where the file names the version itself.
	Template, Text string
}

// IsDerived reports whether the place has only what was made of a version: it has no tag and no digest.
func (r Reference) IsDerived() bool { return r.Template != "" && r.Tag == "" && r.Digest == "" }

// Version returns the version that the reference has.
func (r Reference) Version() image.Version { return image.Version{Tag: r.Tag, Digest: r.Digest} }

// Names reports whether the reference is to a repository, by its own name or that of a mirror.
func (r Reference) Names(repository image.Repository) bool {
	return r.Repository == repository || r.Mirror == repository && !repository.IsZero()
}

// Form is which parts of a version a reference has.
type Form struct{ Tag, Digest bool }

// Foreign is a reference of another line of versions than that of its component. It is left
// unchanged, and nothing is promoted from it.
type Foreign struct {
	Reference
	Reason string // as in "15.8 is not a version of web (^16): it is above the range"
}

// String returns file:line:column: reason.
func (f Foreign) String() string { return f.Position.String() + ": " + f.Reason }

// Note is information about a file that does not prevent an update, such as an
// alias that changes along with its anchor.
type Note struct {
	Position
	Text string
}

// Hold is what a file has for the key with which users keep promoter from writing it. The
// value may be another one than that which stops promotions.
type Hold struct {
	Position
	Key, Value string // the key as the config names it
}

// String returns file:line has key: value.
func (h Hold) String() string { return fmt.Sprintf("%s:%d has %s: %s", h.File, h.Line, h.Key, h.Value) }

// Mention is a text that names a followed repository and is neither edited nor refused: promoter knows
// no form in which the text sets a version, or the file is of a kind that it does not edit.
type Mention struct {
	Component string `json:"component"`
	Position
	Text string `json:"text"` // as written
	// Repository is what the text names, or that of which it names a mirror.
	Repository image.Repository `json:"-"`
	Mirror     image.Repository `json:"-"`
	// Bare is set if the text has no version.
	Bare bool `json:"-"`
	// Prose is set in comments and in documents that users read.
	Prose bool `json:"prose,omitempty"`
	// Refused is set if the config makes a refusal of it.
	Refused bool `json:"-"`
}

// String returns file:line: text.
func (m Mention) String() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Text) }

// MaxMentions is how many mentions are listed of one target, and kept of one file. The others are counted.
const MaxMentions = 100

// Mentions are those of a target or a file, those in prose last.
type Mentions struct {
	Listed []Mention
	More   int // that are not listed
}

// Add adds mentions, in order: those of files and lines, and those in prose after all others.
func (m *Mentions) Add(other Mentions) {
	m.Listed = append(m.Listed, other.Listed...)
	slices.SortStableFunc(m.Listed, func(a, b Mention) int {
		if a.Prose != b.Prose {
			if a.Prose {
				return 1
			}
			return -1
		}
		return a.Position.Compare(b.Position)
	})
	m.More += other.More
	if left := len(m.Listed) - MaxMentions; left > 0 {
		m.More += left
		m.Listed = m.Listed[:MaxMentions:MaxMentions]
	}
}

// Change is one scalar that is replaced. From and To are the exact texts of the scalar in
// the file, including quotes, so that replacing From with To at Position yields the new
// file.
type Change struct {
	Component string `json:"component"`
	Shape     Shape  `json:"kind"`
	Position
	From string `json:"from"`
	To   string `json:"to"`
}

// Refusal is a file, or a location in one, that is left unchanged although it has or may
// have a reference. Nothing is written for what it stops.
type Refusal struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`      // 0: the file does not exist
	Component string `json:"component,omitempty"` // empty: any of the application's
	Reason    string `json:"reason"`
	// Unaffected are the components that the refusal does not stop: the config distinguishes
	// no applications, and what is refused cannot reference them. Empty: it stops all.
	Unaffected []string `json:"unaffected,omitempty"`
	// Whole is set if a whole file is refused whose text is known, so that it can be searched.
	Whole bool `json:"-"`
}

// Union returns the refusals of a, and those of b that a does not have.
func Union(a, b []Refusal) []Refusal {
	all := slices.Clone(a)
	for _, r := range b {
		if !slices.ContainsFunc(all, func(known Refusal) bool { return known.String() == r.String() && known.Component == r.Component }) {
			all = append(all, r)
		}
	}
	return all
}

// Stops reports whether nothing may be written for a component because of the refusal.
func (r Refusal) Stops(component string) bool { return !slices.Contains(r.Unaffected, component) }

// String returns file:line: reason, without the line if there is none.
func (r Refusal) String() string {
	if r.Line == 0 {
		return r.File + ": " + r.Reason
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Reason)
}
