package state

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
)

// State is every record of the branch. The zero value is an empty branch. It is a
// value: changing it makes another.
type State struct {
	records *table
	broken  map[Target]Problem
	draft   *draft // set while Apply works
}

// draft is what Apply has to tell beside what it makes.
type draft struct{ refused []Problem }

// At returns the record of exactly one place, the zero one when there is none. It
// is read only.
func (s State) At(target Target) Record {
	record, _ := s.records.find(target)
	return record
}

// Targets returns the places that have a record, sorted: the repository first,
// then the environments, each before its applications.
func (s State) Targets() []Target {
	var targets []Target
	for target := range s.records.all() {
		targets = append(targets, target)
	}
	slices.SortFunc(targets, Target.compare)
	return targets
}

// With returns the state in which the record of a place is changed. The change
// gets a copy. A place whose file could not be read stays as it is: overwriting
// the file would lose what it says, so a person has to repair it. Apply tells.
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
	record = record.clone() // what the change put in is its own
	record.bound()
	s.records = s.records.with(target, record)
	return s
}

func (s State) refuse(problem Problem) {
	if s.draft != nil {
		s.draft.refused = append(s.draft.refused, problem)
	}
}

// Apply makes the changes one after the other. Those of a place whose file cannot
// be read are left out, and named by an Invalid fault; the others are made.
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

// Problems returns the files that could not be read, sorted by place. Their
// places are held until somebody repairs them.
func (s State) Problems() []Problem {
	return slices.SortedFunc(maps.Values(s.broken), func(a, b Problem) int { return a.Place.compare(b.Place) })
}

// Problem is a file of the branch that could not be read.
type Problem struct {
	Place  Target
	Reason string
}

// String says the problem in one line.
func (p Problem) String() string { return p.Place.path() + " on " + Branch + ": " + p.Reason }

// compare sorts what is wider before what it holds.
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

// String names the place for people.
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

// within returns the places whose records count for a place, the widest first.
func (p Target) within() []Target {
	return slices.Compact([]Target{{All, All}, {p.Environment, All}, p})
}

// utc is how times are kept: whole seconds, so that what is read back is what was
// written.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
