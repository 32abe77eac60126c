// Package state is the content of the branch promoter/_state of a GitOps repository:
// user decisions about promotions, and the few facts that no other file can hold.
//
// It is an orphan branch with one small JSON file per target, an environment with an
// application, so that two writers conflict only when they decide about the same target.
// The package reads, changes, and writes these files as values; the caller pushes the
// branch. docs/formats.md describes the schema, which changes only with a new version.
//
// Any user who may push the branch may stop promotions. What loosens something counts only
// when promoter wrote it: see Authentic, and the seals of package statebranch.
package state

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
)

// Branch is the branch that holds the state.
const Branch = "promoter/_state"

// All stands for every environment or application in a Target. No environment or
// application can have this name.
const All = "_all"

// Target is what a record is about: an application in an environment, an environment
// (Application is All), or the repository (both are All).
type Target struct {
	Environment string
	Application string
}

const fileSuffix = ".json"

// path returns the file of a target: ENVIRONMENT/APPLICATION.json.
func (t Target) path() string { return t.Environment + "/" + t.Application + fileSuffix }

// targetOf returns the target of a file. Other files of the branch, such as a README,
// are left unchanged.
func targetOf(path string) (Target, bool) {
	name, hasSuffix := strings.CutSuffix(path, fileSuffix)
	environment, application, hasSlash := strings.Cut(name, "/")
	target := Target{environment, application}
	return target, hasSuffix && hasSlash && target.valid()
}

// valid reports whether both parts are names or All. The repository has no applications
// of its own.
func (t Target) valid() bool {
	return (validName(t.Environment) || t.Environment == All) &&
		(validName(t.Application) && t.Environment != All || t.Application == All)
}

// maxName is the longest name of an environment or application, as in the config file.
const maxName = 40

func validName(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// String describes the target.
func (t Target) String() string {
	switch {
	case t.Environment == All:
		return "the repository"
	case t.Application == All:
		return t.Environment
	default:
		return t.Application + " in " + t.Environment
	}
}

// scopes yields the targets whose records apply to a target, the widest first. A slice would be
// allocated for each question about each target.
func (t Target) scopes() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		environment := Target{t.Environment, All}
		if !yield(Target{All, All}) || t.Environment != All && !yield(environment) || t == environment {
			return
		}
		yield(t)
	}
}

// compare sorts a wider target before those within it.
func (t Target) compare(other Target) int {
	wideFirst := func(name string) string {
		if name == All {
			return ""
		}
		return name
	}
	if c := strings.Compare(wideFirst(t.Environment), wideFirst(other.Environment)); c != 0 {
		return c
	}
	return strings.Compare(wideFirst(t.Application), wideFirst(other.Application))
}

// State is every record of the branch. The zero value is an empty branch. It is
// immutable: a change returns another State.
type State struct {
	records *table
	broken  map[Target]Problem
	refused *[]Problem // set while Apply runs
	// renamed are the decisions that also count under other names. Nil: that was not asked for.
	renamed *Renamed
}

// Change is what one writer changes. It is pure, and applying it twice is applying it
// once, so that a writer that loses the race for the branch reads it again and applies
// the same changes.
type Change func(State) State

// at returns a change of one target.
func at(target Target, change func(*Record)) Change {
	return func(s State) State { return s.With(target, change) }
}

// At returns the record of exactly one target, the zero one when there is none. It is
// read only.
func (s State) At(target Target) Record {
	record, _ := s.records.find(target)
	return record
}

// Targets returns the targets that have a record, sorted: the repository first, then the
// environments, each before its applications.
func (s State) Targets() []Target {
	var targets []Target
	for target := range s.records.all() {
		targets = append(targets, target)
	}
	slices.SortFunc(targets, Target.compare)
	return targets
}

// With returns the state in which the record of a target is changed. The change gets a
// copy. A target whose file could not be read stays as it is, because overwriting the
// file would lose its content; Apply reports it.
func (s State) With(target Target, change func(*Record)) State {
	refuse := func(problem Problem) State {
		if s.refused != nil {
			*s.refused = append(*s.refused, problem)
		}
		return s
	}
	if problem, broken := s.broken[target]; broken {
		return refuse(problem)
	}
	if !target.valid() {
		return refuse(Problem{Target: target, Reason: "this is not a valid target"})
	}
	record := s.At(target).clone()
	change(&record)
	if !record.withinLimits() {
		return refuse(Problem{Target: target, Reason: errRequest.Error()})
	}
	record = record.clone() // the change may keep references to what it set
	record.normalize()
	s.records = s.records.with(target, record)
	return s
}

// Apply makes the changes one after the other. Those of a target whose file cannot be
// read are skipped and reported as an Invalid fault; the others are made.
func (s State) Apply(changes ...Change) (State, error) {
	var refused []Problem
	next := s
	next.refused = &refused
	for _, change := range changes {
		next = change(next)
	}
	next.refused = nil
	if len(changes) > 0 {
		next.renamed = stillRenamed(next)
	}
	if len(refused) > 0 {
		return next, fault.New(fault.Invalid, "%s: repair or delete the file on the branch", refused[0])
	}
	return next, nil
}

// Problem is a file of the branch that could not be read.
type Problem struct {
	Target Target
	Reason string
}

// String returns the problem in one line.
func (p Problem) String() string { return p.Target.path() + " on " + Branch + ": " + p.Reason }

// Problems returns the files that could not be read, sorted by target. Their targets are
// on hold until a user repairs them.
func (s State) Problems() []Problem {
	return slices.SortedFunc(maps.Values(s.broken), func(a, b Problem) int { return a.Target.compare(b.Target) })
}

// utc is how times are stored: in whole seconds, so that what is read is what was
// written.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// table stores records in parts, of which a change copies one. The first reconciliation
// of thousands of targets changes them one by one; copying everything each time took 40 s
// for 10,000.
type table [parts]map[Target]Record

const parts = 256

// part returns the part of a target, by its FNV-1a hash.
func (t Target) part() uint32 {
	hash := uint32(2166136261)
	for _, name := range [2]string{t.Environment, t.Application} {
		for i := range len(name) {
			hash = (hash ^ uint32(name[i])) * 16777619
		}
	}
	return hash % parts
}

// find returns the record of a target. A nil table is empty.
func (t *table) find(target Target) (Record, bool) {
	if t == nil {
		return Record{}, false
	}
	record, found := t[target.part()][target]
	return record, found
}

// with returns a copy in which the target has the record, or none if it is empty.
func (t *table) with(target Target, record Record) *table {
	next := table{}
	if t != nil {
		next = *t
	}
	i := target.part()
	changed := make(map[Target]Record, len(next[i])+1)
	maps.Copy(changed, next[i])
	if record.empty() {
		delete(changed, target)
	} else {
		changed[target] = record
	}
	next[i] = changed
	return &next
}

// put adds a record to a table that is not shared yet.
func (t *table) put(target Target, record Record) {
	i := target.part()
	if t[i] == nil {
		t[i] = map[Target]Record{}
	}
	t[i][target] = record
}

// all returns every record, in no order.
func (t *table) all() iter.Seq2[Target, Record] {
	return func(yield func(Target, Record) bool) {
		if t == nil {
			return
		}
		for _, part := range t {
			for target, record := range part {
				if !yield(target, record) {
					return
				}
			}
		}
	}
}
