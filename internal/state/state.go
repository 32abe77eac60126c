package state

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
)

// State is the set of all records on the branch. The zero value is an empty
// branch. It is immutable: a change returns a new state.
type State struct {
	records *table
	broken  map[Target]Problem
	draft   *draft // set while Apply works
}

// draft collects the additional results of Apply.
type draft struct{ refused []Problem }

// At returns the record of exactly the target, or the zero record. The result
// is read-only.
func (s State) At(target Target) Record {
	record, _ := s.records.find(target)
	return record
}

// Targets returns the targets that have a record, sorted: the repository first,
// then the environments, each before its applications.
func (s State) Targets() []Target {
	var targets []Target
	for target := range s.records.all() {
		targets = append(targets, target)
	}
	slices.SortFunc(targets, Target.compare)
	return targets
}

// With returns the state with a changed record. The change gets a copy. A
// target whose file could not be read is not changed, because overwriting the
// file would lose its content; a user must repair it. Apply reports this.
func (s State) With(target Target, change func(*Record)) State {
	if problem, broken := s.broken[target]; broken {
		s.refuse(problem)
		return s
	}
	if !target.valid() {
		s.refuse(Problem{Place: target, Reason: "there can be no such place"})
		return s
	}
	record := s.At(target).clone()
	change(&record)
	if !record.Request.bounded() {
		s.refuse(Problem{Place: target, Reason: errWith.Error()})
		return s
	}
	record = record.clone() // the change may have stored its own values
	record.bound()
	s.records = s.records.with(target, record)
	return s
}

func (s State) refuse(problem Problem) {
	if s.draft != nil {
		s.draft.refused = append(s.draft.refused, problem)
	}
}

// Apply applies the changes in order. Changes to a target whose file cannot be
// read are skipped and reported as an Invalid fault; the others are applied.
func (s State) Apply(changes ...Change) (State, error) {
	work := &draft{}
	next := State{records: s.records, broken: s.broken, draft: work}
	for _, change := range changes {
		next = change(next)
	}
	next.draft = nil
	if len(work.refused) > 0 {
		return next, fault.New(fault.Invalid, "%s: repair or delete the file on the branch", work.refused[0])
	}
	return next, nil
}

// Problems returns the files that could not be read, sorted by target. Their
// targets are on hold until a user repairs them.
func (s State) Problems() []Problem {
	return slices.SortedFunc(maps.Values(s.broken), func(a, b Problem) int { return a.Place.compare(b.Place) })
}

// Problem is a file on the branch that could not be read.
type Problem struct {
	Place  Target
	Reason string
}

// String describes the problem in one line.
func (p Problem) String() string { return p.Place.path() + " on " + Branch + ": " + p.Reason }

// compare sorts wider targets before those that they contain.
func (p Target) compare(q Target) int {
	if c := strings.Compare(wideFirst(p.Environment), wideFirst(q.Environment)); c != 0 {
		return c
	}
	return strings.Compare(wideFirst(p.Application), wideFirst(q.Application))
}

func wideFirst(name string) string {
	if name == All {
		return ""
	}
	return name
}

// String returns the target for display.
func (p Target) String() string {
	switch {
	case p.Environment == All:
		return "the repository"
	case p.Application == All:
		return p.Environment
	default:
		return p.Application + " in " + p.Environment
	}
}

// within returns the targets whose records apply to a target, the widest first.
func (p Target) within() []Target {
	return slices.Compact([]Target{{All, All}, {p.Environment, All}, p})
}

// utc normalizes times to whole seconds, so that a time is read back as
// written.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
