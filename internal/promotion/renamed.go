package promotion

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"promoter/internal/edit"
	"promoter/internal/glob"
	"promoter/internal/state"
)

// This file finds the targets that user decisions stop although they have another name now.

// Earlier is what a repository had at the heads that a decision recorded.
type Earlier interface {
	// Had reports whether a branch had a file; the branch is as in state.Location.
	Had(branch, file string) bool
	// Named reports whether a target of that name existed.
	Named(target Target) bool
}

// Renamed returns the decisions that also stop targets under other names: those that have a file of the decision,
// and if no target has one, those that appeared since. Earlier returns what was there; false: it cannot be read, and
// every target may have appeared since.
func Renamed(o Observation, now time.Time, earlier func(stop state.Stop) (Earlier, bool)) state.Renamed {
	found := state.Renamed{Targets: map[state.Target][]state.Moved{}}
	stops := o.State.Stops(now)
	if len(stops) == 0 {
		return found
	}
	ix := newFileIndex(o)
	for _, stop := range stops {
		gone := !ix.exists(stop.Of)
		if gone {
			found.Gone = append(found.Gone, stop)
		}
		var others []Target
		how := state.HasFiles
		if stop.Act.Location != nil {
			covered := ix.covered(*stop.Act.Location)
			others = slices.DeleteFunc(slices.Clone(covered), func(t Target) bool { return names(stop.Of, t) })
			if len(covered) == 0 {
				how, others = state.Appeared, ix.appeared(stop, gone, earlier)
			}
		} else if gone {
			how, others = state.Unknown, ix.related(stop.Of)
		}
		for _, target := range others {
			at := state.Target(target)
			found.Targets[at] = append(found.Targets[at], state.Moved{Stop: stop, How: how, Gone: gone})
		}
	}
	return found
}

// Locations returns where the targets of records are, of those that exist. The heads are those of all branches, by name.
func Locations(o Observation, records []state.Target, heads map[string]string) map[state.Target]state.Location {
	found := map[state.Target]state.Location{}
	if len(records) == 0 {
		return found
	}
	ix := newFileIndex(o)
	for _, of := range records {
		if location, exists := ix.location(of, heads); exists {
			found[of] = location
		}
	}
	return found
}

// Saw returns the heads of all branches as a decision records them, by branch as in state.Location. An environment
// whose branch must be among them comes first; empty: none must.
func Saw(o Observation, heads map[string]string, environment string) map[string]string {
	saw := map[string]string{}
	add := func(branch string) {
		recorded := branch
		if branch == o.DefaultBranch {
			recorded = ""
		}
		if head := heads[branch]; head != "" && len(saw) < state.MaxLocations {
			saw[recorded] = head
		}
	}
	add(o.DefaultBranch) // which has the config
	if first, known := o.Config.Environment(environment); known {
		add(o.BranchOf(*first))
	}
	for _, e := range o.Config.Environments {
		add(o.BranchOf(e))
	}
	return saw
}

func (ix fileIndex) location(of state.Target, heads map[string]string) (state.Location, bool) {
	if of.Environment == state.All {
		return state.Location{Heads: Saw(ix.o, heads, "")}, true
	}
	environment, known := ix.o.Config.Environment(of.Environment)
	if !known {
		return state.Location{}, false
	}
	location := state.Location{Branch: ix.branches[of.Environment], Heads: Saw(ix.o, heads, of.Environment)}
	if of.Application == state.All {
		location.Paths = environment.Paths
		if len(location.Paths) == 0 || len(location.Paths) > state.MaxLocations {
			location.Paths = []string{wholeTree}
		}
	} else if location.Files = folded(ix.files[Target(of)]); len(location.Files) == 0 {
		return state.Location{}, false
	}
	if slices.ContainsFunc(ix.covered(location), func(t Target) bool { return !names(of, t) }) {
		location.Images = ix.imagesOf(of)
	}
	return location, true
}

const wholeTree = "**"

// folded returns files as a location has them: many of them as their folders, the nearest first.
func folded(files []string) []string {
	files = slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !utf8.ValidString(file) })
	for len(files) > state.MaxLocations {
		for i, file := range files {
			if folder := path.Dir(strings.TrimSuffix(file, "/")); folder != "." {
				files[i] = folder + "/"
			} else {
				files[i] = "/" // the whole tree
			}
		}
		slices.Sort(files)
		files = slices.Compact(files)
	}
	return files
}

// names reports whether the record of a target is about another one by its name.
func names(of state.Target, target Target) bool {
	return of.Environment == target.Environment && (of.Application == state.All || of.Application == target.Application)
}

// fileIndex has the targets of an observation by their files.
type fileIndex struct {
	o        Observation
	branches map[string]string   // by environment; empty: the default branch
	files    map[Target][]string // sorted
	owners   map[string][]Target // by file, on any branch
	sorted   []Target
}

func newFileIndex(o Observation) fileIndex {
	ix := fileIndex{
		o: o, branches: map[string]string{},
		files: make(map[Target][]string, len(o.Targets)), owners: make(map[string][]Target, len(o.Targets)),
	}
	for _, e := range o.Config.Environments {
		if branch := o.BranchOf(e); branch != o.DefaultBranch {
			ix.branches[e.Name] = branch
		}
	}
	for target, current := range o.Targets {
		var files []string
		add := func(file string) {
			if !slices.Contains(files, file) {
				files = append(files, file)
				ix.owners[file] = append(ix.owners[file], target)
			}
		}
		for i := range current.References {
			add(current.References[i].Position.File)
		}
		for i := range current.Refusals {
			add(current.Refusals[i].File)
		}
		slices.Sort(files)
		ix.files[target] = files
		ix.sorted = append(ix.sorted, target)
	}
	slices.SortFunc(ix.sorted, Target.Compare)
	return ix
}

// exists reports whether anything has the name of a record, or may have it on a branch that is not available.
func (ix fileIndex) exists(of state.Target) bool {
	_, known := ix.o.Config.Environment(of.Environment)
	_, unavailable := ix.o.Unavailable[of.Environment]
	_, exists := ix.o.Targets[Target(of)]
	return known && (of.Application == state.All || unavailable || exists)
}

// covered returns the targets that have a file of a location, and of its images, sorted.
func (ix fileIndex) covered(location state.Location) []Target {
	var found []Target
	matches := func(target Target) bool {
		return ix.branches[target.Environment] == location.Branch && (len(location.Images) == 0 ||
			slices.ContainsFunc(ix.o.Targets[target].References, func(r edit.Reference) bool {
				return slices.Contains(location.Images, r.Repository.String())
			}))
	}
	var folders []string
	for _, file := range location.Files {
		if strings.HasSuffix(file, "/") {
			folders = append(folders, strings.TrimPrefix(file, "/"))
			continue
		}
		for _, owner := range ix.owners[file] {
			if matches(owner) {
				found = append(found, owner)
			}
		}
	}
	var paths []*glob.Path
	for _, text := range location.Paths {
		if parsed, err := glob.ParsePath(text); err == nil { // what users wrote into a record may be no path
			paths = append(paths, parsed)
		}
	}
	if len(folders)+len(paths) > 0 {
		for _, target := range ix.sorted {
			within := func(file string) bool {
				return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(file, folder) }) ||
					slices.ContainsFunc(paths, func(p *glob.Path) bool { _, ok := p.Match(file); return ok })
			}
			if slices.ContainsFunc(ix.files[target], within) && matches(target) {
				found = append(found, target)
			}
		}
	}
	slices.SortFunc(found, Target.Compare)
	return slices.Compact(found)
}

// appeared returns the targets that appeared since a decision was made, none of whose files is left: those that
// have only files that were not there. If a target still has the name of the decision, which may be another one now,
// its own name must be new too: else moving all folders of a repository would stop everything.
func (ix fileIndex) appeared(stop state.Stop, gone bool, earlier func(state.Stop) (Earlier, bool)) []Target {
	before, readable := earlier(stop)
	return slices.DeleteFunc(slices.Clone(ix.sorted), func(target Target) bool {
		switch {
		case names(stop.Of, target):
			return true
		case !readable:
			return false
		case !gone && before.Named(target):
			return true
		}
		branch := ix.branches[target.Environment]
		return slices.ContainsFunc(ix.files[target], func(file string) bool { return before.Had(branch, file) })
	})
}

// related returns the targets that a decision whose target is gone may have been about, if nothing shows where it was:
// the others of its environment; if that is gone too, the same application elsewhere; otherwise all of them.
func (ix fileIndex) related(of state.Target) []Target {
	only := func(keep func(Target) bool) []Target {
		return slices.DeleteFunc(slices.Clone(ix.sorted), func(t Target) bool { return !keep(t) })
	}
	if _, known := ix.o.Config.Environment(of.Environment); known {
		return only(func(t Target) bool { return t.Environment == of.Environment })
	}
	if of.Application != state.All {
		if same := only(func(t Target) bool { return t.Application == of.Application }); len(same) > 0 {
			return same
		}
	}
	return ix.sorted
}

// imagesOf returns the repositories in the files of the targets of a record, sorted; nil: too many.
func (ix fileIndex) imagesOf(of state.Target) []string {
	var images []string
	for _, target := range ix.sorted {
		if !names(of, target) {
			continue
		}
		for _, r := range ix.o.Targets[target].References {
			images = append(images, r.Repository.String())
		}
	}
	slices.Sort(images)
	images = slices.Compact(images)
	if len(images) > state.MaxLocations {
		return nil
	}
	return images
}
