// Package strictyaml decodes a YAML file into structs, keeps the position of every
// value, and reports all problems of the file at once: unknown keys, wrong types,
// duplicate keys, a second document, and syntax errors.
//
// Callers describe a file with structs of Located values and add problems of their
// own to the same Report. Decoding is bounded: neither anchors nor nesting can make
// it slow. No problem quotes a value that may be a secret.
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/fault"
)

// Position locates a value. Line and Column count from 1; a column is a Unicode
// character, and a byte order mark does not count. Line is 0 for a value that does
// not come from a file; File is then the name of an environment variable.
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

// Severity reports whether a problem prevents a file from being used.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the file is not used
	SeverityWarning Severity = "warning" // the file is used, but something in it has a surprising effect
)

// Problem is one finding in a file with its position and a hint how to fix it.
type Problem struct {
	Severity Severity `json:"severity"`
	Position
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns one line: position, message, and hint.
func (p Problem) String() string {
	text := p.Position.String() + ": "
	if p.Severity == SeverityWarning {
		text += "warning: "
	}
	text += p.Message
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Problems is everything that loading found, in the order of the file.
type Problems []Problem

// Errors returns the problems that prevent the file from being used.
func (p Problems) Errors() Problems { return p.with(SeverityError) }

// Warnings returns the problems that do not.
func (p Problems) Warnings() Problems { return p.with(SeverityWarning) }

func (p Problems) with(severity Severity) Problems {
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

// Err returns a fault.Invalid error with one line per error, or nil when there are
// only warnings.
func (p Problems) Err() error {
	failed := p.Errors()
	if len(failed) == 0 {
		return nil
	}
	return fault.Wrap(fault.Invalid, errors.New(failed.String()))
}

// Limits of a report: how many problems it holds, and how much one problem may
// repeat of the file, in bytes.
const (
	maxProblems = 100
	maxMessage  = 500
)

// Report collects the problems of a file. A finding that an anchor repeats at the
// same position counts once.
type Report struct {
	found []Problem
	seen  map[Problem]bool
}

// Errorf adds an error.
func (r *Report) Errorf(at Position, hint, format string, args ...any) {
	r.add(Problem{Severity: SeverityError, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// ErrorIf adds an error where a rule is broken.
func (r *Report) ErrorIf(broken bool, at Position, hint, format string, args ...any) {
	if broken {
		r.Errorf(at, hint, format, args...)
	}
}

// Warnf adds a warning.
func (r *Report) Warnf(at Position, hint, format string, args ...any) {
	r.add(Problem{Severity: SeverityWarning, Position: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *Report) add(p Problem) {
	p.Message, p.Hint = shorten(p.Message), shorten(p.Hint)
	if r.seen[p] || r.full() {
		return
	}
	if r.seen == nil {
		r.seen = map[Problem]bool{}
	}
	r.seen[p] = true
	r.found = append(r.found, p)
}

func (r *Report) full() bool { return len(r.found) >= maxProblems }

// shorten cuts a long text at a character boundary.
func shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

// Problems returns the problems sorted by position.
func (r *Report) Problems() Problems {
	slices.SortStableFunc(r.found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.found
}

// Failed reports whether there is an error.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.found, func(p Problem) bool { return p.Severity == SeverityError })
}

// Names is a set of names that other values may refer to.
type Names struct {
	list []string
	set  map[string]bool
}

// NamesOf returns the set of the given names.
func NamesOf(names []Located[string]) Names {
	set := Names{set: make(map[string]bool, len(names))}
	for _, name := range names {
		set.list = append(set.list, name.Value)
		set.set[name.Value] = true
	}
	return set
}

// Has reports whether the name is in the set.
func (n Names) Has(name string) bool { return n.set[name] }

// Known reports whether a reference names something in the set, and adds an error if
// it does not.
func (r *Report) Known(kind string, name Located[string], names Names) bool {
	if !name.Valid() {
		return false
	}
	if !names.Has(name.Value) {
		r.Errorf(name.Position, DidYouMean(name.Value, names.list), "there is no %s %q", kind, name.Value)
		return false
	}
	return true
}

// maxSuggest is the length above which no typing mistake is searched for.
const maxSuggest = 40

// DidYouMean returns a hint that names the candidate nearest to what was written,
// or all candidates when none is near and they are few.
func DidYouMean(written string, candidates []string) string {
	if best := Nearest(written, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	return "known here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}

// Nearest returns the candidate with the fewest edits, at most a third of its
// length, or "". Case and separators do not count.
func Nearest[Name ~string](written string, candidates []Name) Name {
	if len(written) > maxSuggest {
		return ""
	}
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	var best Name
	least := maxSuggest
	for _, candidate := range candidates {
		edits := distance(plain(written), plain(string(candidate)))
		if edits < least && edits <= max(1, len(candidate)/3) {
			best, least = candidate, edits
		}
	}
	return best
}

// distance counts insertions, deletions, replacements, and swaps of neighbors
// between a and b (optimal string alignment).
func distance(a, b string) int {
	if len(b) > maxSuggest {
		return maxSuggest
	}
	var before, previous, row [maxSuggest + 1]int
	for j := range len(b) + 1 {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := previous[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(previous[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}

// OneOf reports whether a value is one of the allowed ones, and adds an error and marks
// it as invalid if it is not.
func (r *Report) OneOf(value *Located[string], key string, allowed []string) bool {
	if value.Valid() && !slices.Contains(allowed, value.Value) {
		value.Invalid = true
		r.Errorf(value.Position, DidYouMean(value.Value, allowed), "%q is not a value of %s", value.Value, key)
	}
	return value.Valid()
}

// Regexp validates a regular expression. It returns false after a problem.
func (r *Report) Regexp(value Located[string], key string) bool {
	if !value.Valid() {
		return !value.Invalid
	}
	_, err := regexp.Compile(value.Value)
	if err != nil {
		const hint = "use the syntax of https://github.com/google/re2/wiki/Syntax; single quotes keep backslashes"
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		r.Errorf(value.Position, hint, "%s is not a regular expression: %s", key, why)
	}
	return err == nil
}
