package state

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"
)

// Location is where the targets of a decision were when it was made. Writers of the repository choose names, but
// a cluster deploys a branch and files: a hold, a freeze, or a rejection also applies to what has these files
// under another name.
type Location struct {
	// Branch is the branch of the environment; empty: the default branch.
	Branch string `json:"branch,omitempty"`
	// Paths are those of an environment, as its config had them. Files are those of an application; with a slash at
	// the end, all files below a folder.
	Paths []string `json:"paths,omitempty"`
	Files []string `json:"files,omitempty"`
	// Images are the repositories in the files, if other targets had versions in the same files. Nil: all count.
	Images []string `json:"images,omitempty"`
	// Heads are the commits of the branches of all environments, by branch as above: what the decision saw. What is
	// not there appeared since, and a commit that they do not contain is later: the times in commits prove nothing.
	// The end of a rejection, and a rejection in the whole repository, have nothing else.
	Heads map[string]string `json:"heads,omitempty"`
}

// Kind is what kind of decision stops targets.
type Kind string

// The kinds.
const (
	KindHold   Kind = "hold"
	KindFreeze Kind = "freeze"
	KindReject Kind = "reject"
)

// Stop is a decision that stops promotions: all of them, or those of some versions.
type Stop struct {
	Of        Target // whose record has it
	Kind      Kind
	Act       Act
	Until     *time.Time // of a freeze
	Rejection Rejection  // of a rejection
}

// same reports whether two values are the same decision, wherever it is located.
func (s Stop) same(other Stop) bool {
	return s.Of == other.Of && s.Kind == other.Kind && s.Act.same(other.Act) && s.Rejection.equal(other.Rejection)
}

func (a Act) same(other Act) bool {
	return a.By == other.By && a.At.Equal(other.At) && a.Reason == other.Reason
}

func (r Rejection) equal(other Rejection) bool { return r.Act.same(other.Act) && r.rejectsAs(other) }

// stops yields the decisions of a record that stop promotions.
func (r Record) stops(of Target) iter.Seq[Stop] {
	return func(yield func(Stop) bool) {
		if r.Freeze != nil && !yield(Stop{Of: of, Kind: KindFreeze, Act: r.Freeze.Act, Until: r.Freeze.Until}) {
			return
		}
		if r.Hold != nil && !yield(Stop{Of: of, Kind: KindHold, Act: *r.Hold}) {
			return
		}
		for _, rejection := range r.Rejections {
			if !yield(Stop{Of: of, Kind: KindReject, Act: rejection.Act, Rejection: rejection}) {
				return
			}
		}
	}
}

// Stops returns the decisions that stop promotions, sorted by target, without those about the whole repository,
// which have no other name, and without freezes that ended.
func (s State) Stops(now time.Time) []Stop {
	var all []Stop
	for of, record := range s.records.all() {
		if of.Environment == All {
			continue
		}
		for stop := range record.stops(of) {
			if stop.Until == nil || stop.Until.After(now) {
				all = append(all, stop)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Stop) int { return a.Of.compare(b.Of) })
	return all
}

// Unlocated returns the targets with decisions that have no location, and that a state before did not have, sorted. Of
// the whole repository, those are the rejections: all else there is everywhere.
func Unlocated(s, before State) []Target {
	return targetsWith(s, func(of Target, record Record) bool {
		earlier := slices.Collect(before.At(of).stops(of))
		for stop := range record.stops(of) {
			somewhere := of.Environment != All || stop.Kind == KindReject
			if somewhere && stop.Act.Location == nil && !slices.ContainsFunc(earlier, stop.same) {
				return true
			}
		}
		return false
	})
}

// Unrejected returns the targets with versions that were allowed again since a state before, sorted.
func Unrejected(s, before State) []Target {
	return targetsWith(s, func(of Target, record Record) bool {
		return slices.ContainsFunc(record.Unrejections, func(u Unrejection) bool { return !before.At(of).has(u) })
	})
}

// targetsWith returns the targets of whose records something is true, sorted.
func targetsWith(s State, is func(of Target, record Record) bool) []Target {
	var targets []Target
	for of, record := range s.records.all() {
		if is(of, record) {
			targets = append(targets, of)
		}
	}
	slices.SortFunc(targets, Target.compare)
	return targets
}

// has reports whether a record has the end of rejections.
func (r Record) has(u Unrejection) bool { return slices.ContainsFunc(r.Unrejections, u.same) }

func (u Unrejection) same(other Unrejection) bool {
	return u.Act.same(other.Act) && maps.Equal(u.Images, other.Images)
}

// Saw records which commits the ends of rejections saw, by branch, that a state before did not have. Only what records
// them may do that: what is on the branches later contains acts of users that came after them.
func Saw(target Target, heads map[string]string, before State) Change {
	return at(target, func(r *Record) {
		for i, u := range r.Unrejections {
			if u.Location == nil && !before.At(target).has(u) {
				r.Unrejections[i].Location = &Location{Heads: heads}
			}
		}
	})
}

// Locate records where the target of decisions is, for those that have no location, and that a state before did not have.
func Locate(target Target, location Location, before State) Change {
	return at(target, func(r *Record) {
		earlier := slices.Collect(before.At(target).stops(target))
		locate := func(act *Act, stop Stop) {
			if act.Location == nil && !slices.ContainsFunc(earlier, stop.same) {
				act.Location = &location
			}
		}
		for stop := range r.clone().stops(target) {
			switch stop.Kind {
			case KindHold:
				locate(r.Hold, stop)
			case KindFreeze:
				locate(&r.Freeze.Act, stop)
			case KindReject:
				i := slices.IndexFunc(r.Rejections, stop.Rejection.equal)
				locate(&r.Rejections[i].Act, stop)
			}
		}
	})
}

// How is how a decision applies to a target under another name.
type How string

// The ways.
const (
	Named    How = ""         // the decision names the target
	HasFiles How = "files"    // it has a file of the decision
	Appeared How = "appeared" // no target has a file of the decision, and this one is newer
	Unknown  How = "unknown"  // the target of the decision is gone, and nothing shows where it was
)

// Moved is a decision that stops a target under another name than it was made for.
type Moved struct {
	Stop
	How  How
	Gone bool // no target has the name of the decision anymore
}

// Renamed are the decisions that do not only stop what has their name.
type Renamed struct {
	Targets map[Target][]Moved // that they stop under other names
	Gone    []Stop             // whose target is gone, sorted
}

// WithRenamed returns the state in which decisions also count under other names.
func (s State) WithRenamed(m Renamed) State {
	s.renamed = &m
	return s
}

// Gone returns the decisions that are in effect although their target is gone, sorted.
func (s State) Gone() []Stop {
	if s.renamed == nil {
		return nil
	}
	return s.renamed.Gone
}

// Elsewhere returns the targets that a decision stops under other names, sorted.
func (s State) Elsewhere(stop Stop) []Target {
	if s.renamed == nil {
		return nil
	}
	var targets []Target
	for target, all := range s.renamed.Targets {
		if slices.ContainsFunc(all, func(m Moved) bool { return m.Stop.same(stop) }) {
			targets = append(targets, target)
		}
	}
	slices.SortFunc(targets, Target.compare)
	return targets
}

// Moved returns the decisions that stop a target under another name.
func (s State) Moved(target Target) []Moved {
	if s.renamed == nil {
		return nil
	}
	return s.renamed.Targets[target]
}

// stillRenamed returns what is left after changes: decisions that ended count nowhere.
func stillRenamed(s State) *Renamed {
	if s.renamed == nil {
		return nil
	}
	exists := func(stop Stop) bool {
		for now := range s.At(stop.Of).stops(stop.Of) {
			if now.same(stop) {
				return true
			}
		}
		return false
	}
	left := Renamed{Targets: map[Target][]Moved{}}
	for target, all := range s.renamed.Targets {
		kept := slices.DeleteFunc(slices.Clone(all), func(m Moved) bool { return !exists(m.Stop) })
		if len(kept) > 0 {
			left.Targets[target] = kept
		}
	}
	left.Gone = slices.DeleteFunc(slices.Clone(s.renamed.Gone), func(stop Stop) bool { return !exists(stop) })
	return &left
}

// movedDiffer returns the targets to which other decisions apply under other names in one state than in another.
func movedDiffer(s, before State) (changed []Target) {
	same := func(a, b Moved) bool { return a.Stop.same(b.Stop) && a.How == b.How && a.Gone == b.Gone }
	for _, side := range [2][2]State{{s, before}, {before, s}} {
		if side[0].renamed == nil {
			continue
		}
		for target, all := range side[0].renamed.Targets {
			if !slices.EqualFunc(all, side[1].Moved(target), same) {
				changed = append(changed, target)
			}
		}
	}
	return changed
}

// Limits of a location.
const (
	MaxLocations    = 50   // of each list
	maxLocationText = 1024 // bytes of each path
)

// withinLimits reports whether a location is small enough. A shortened one would be another.
func (l *Location) withinLimits() bool {
	long := func(text string) bool { return len(text) > maxLocationText }
	if l == nil {
		return true
	}
	for _, list := range [][]string{l.Paths, l.Files, l.Images, slices.Collect(maps.Keys(l.Heads)), slices.Collect(maps.Values(l.Heads))} {
		if len(list) > MaxLocations || slices.ContainsFunc(list, long) {
			return false
		}
	}
	return !long(l.Branch)
}

// text is a decision as it is written, to compare decisions by all that they have.
func (r Rejection) text() string {
	written, _ := json.Marshal(r) //nolint:errchkjson // normalize makes every time one that can be written
	return string(written)
}
