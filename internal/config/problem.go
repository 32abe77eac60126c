package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/fault"
)

// Position is the place of a value. Line and Column count from 1; a column is a
// Unicode character and a byte order mark is none. Line is 0 where the value did
// not come from a file: File is then the name of an environment variable.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:column, the form that editors jump to.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Severity says whether a problem keeps a file from being used.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the file is not used
	SeverityWarning Severity = "warning" // the file is used; something in it will surprise
)

// Problem is one thing that is wrong with a file, where it stands, and what to
// do about it. No problem ever quotes the value of a credential.
type Problem struct {
	Severity Severity `json:"severity"`
	Position
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns one line: the place, the message and the hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Position.String())
	b.WriteString(": ")
	if p.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Problems is everything that loading found, in the order of the file.
type Problems []Problem

// Errors returns the problems that keep the file from being used.
func (p Problems) Errors() Problems { return p.of(SeverityError) }

// Warnings returns the problems that do not.
func (p Problems) Warnings() Problems { return p.of(SeverityWarning) }

func (p Problems) of(severity Severity) Problems {
	var out Problems
	for _, problem := range p {
		if problem.Severity == severity {
			out = append(out, problem)
		}
	}
	return out
}

// String returns one line per problem.
func (p Problems) String() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}

// Err returns an error of the kind fault.Invalid with one line per problem that
// is an error, and nil when there is none.
func (p Problems) Err() error {
	broken := p.Errors()
	if len(broken) == 0 {
		return nil
	}
	return fault.Wrap(fault.Invalid, errors.New(broken.String()))
}

// maxProblems bounds what one file can make a reader print.
const maxProblems = 100

// collector gathers problems. The same finding at the same place, as it comes
// from an anchor that is used twice, counts once.
type collector struct {
	found []Problem
	seen  map[Problem]bool
}

// maxMessage bounds what one problem repeats of the file, in bytes.
const maxMessage = 500

func (c *collector) add(p Problem) {
	p.Message, p.Hint = shorten(p.Message), shorten(p.Hint)
	if c.seen[p] || c.full() {
		return
	}
	if c.seen == nil {
		c.seen = map[Problem]bool{}
	}
	c.seen[p] = true
	c.found = append(c.found, p)
}

// shorten cuts a long text at a character.
func shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

func (c *collector) full() bool { return len(c.found) >= maxProblems }

func (c *collector) failf(at Position, hint, format string, args ...any) {
	c.add(Problem{Severity: SeverityError, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *collector) warnf(at Position, hint, format string, args ...any) {
	c.add(Problem{Severity: SeverityWarning, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *collector) problems() Problems {
	slices.SortStableFunc(c.found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.found
}

func (c *collector) failed() bool {
	return slices.ContainsFunc(c.found, func(p Problem) bool { return p.Severity == SeverityError })
}
