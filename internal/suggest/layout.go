package suggest

import (
	"cmp"
	"slices"

	"promoter/internal/edit"
)

// layout is one way to divide the tree into environments.
type layout struct {
	environments []Environment
	byFile       map[string]string // environment by file; nil: the whole tree is one
	captures     bool              // the paths name applications
	reason       string            // why they name none, or not all; for a comment
}

// minCaptured is the share of references, in percent, that families with an
// application must have for the others to be left out.
const minCaptured = 80

// layouts returns the ways to divide the tree, the most detailed first. The last
// one is the whole tree as one environment, which always loads.
func layouts(files []string, references []edit.Reference) []*layout {
	all := families(candidates(files, references))
	addBases(all, references)
	if slices.ContainsFunc(all, func(f family) bool { return f.weight > 0 }) {
		all = slices.DeleteFunc(all, func(f family) bool { return f.weight == 0 })
	}
	var found []*layout
	if len(all) > 0 {
		var captured []family
		weight, capturedWeight := 0, 0
		for _, f := range all {
			weight += f.weight
			if f.applicationColumn() != noColumn {
				captured = append(captured, f)
				capturedWeight += f.weight
			}
		}
		switch {
		case len(captured) == len(all):
			found = append(found, newLayout(all, true, ""))
		case len(captured) > 0 && capturedWeight*100 >= weight*minCaptured:
			found = append(found, newLayout(captured, true, "Other files name an environment but no application, so they are in no environment."))
		}
		reason := "The paths name no applications, so everything is one application: it is promoted as a whole."
		if len(captured) > 0 {
			reason = "Some paths name no application, so everything is one application: it is promoted as a whole."
		}
		found = append(found, newLayout(all, false, reason))
		heaviest := slices.MaxFunc(all, func(a, b family) int { return cmp.Compare(a.weight, b.weight) })
		found = append(found, newLayout([]family{heaviest}, false, "Other folders were left out: their paths would match several environments."))
	}
	found = slices.DeleteFunc(found, func(l *layout) bool { return !l.isWorthwhile(references) })

	reason := "No folder or file is named after an environment, such as dev, staging or prod, so the whole tree is one."
	if len(all) > 0 {
		reason = "What looks like environments overlaps, or contains little of the tree, so the whole tree is one."
	}
	return append(found, &layout{environments: []Environment{{Name: "main", Exclude: toolGlobs(files), rank: rankProd, reason: reason}}})
}

// isWorthwhile reports whether the layout has several environments, or at least
// most of the references in its only one.
func (l *layout) isWorthwhile(references []edit.Reference) bool {
	if len(l.environments) > 1 {
		return true
	}
	inside := 0
	for _, r := range references {
		if _, ok := l.byFile[r.Position.File]; ok {
			inside++
		}
	}
	return 2*inside >= len(references)
}

// isWholeTree reports whether the layout is one environment with all files.
func (l *layout) isWholeTree() bool { return l.byFile == nil }

// environmentOf returns the environment of a file.
func (l *layout) environmentOf(file string) (name string, ok bool) {
	if l.isWholeTree() {
		return l.environments[0].Name, true
	}
	name, ok = l.byFile[file]
	return name, ok
}

func (l *layout) rankOf(environment string) int {
	for _, e := range l.environments {
		if e.Name == environment {
			return e.rank
		}
	}
	return rankProd
}

// newLayout turns families into environments.
func newLayout(all []family, captures bool, reason string) *layout {
	l := &layout{byFile: map[string]string{}, captures: captures, reason: reason}
	names := environmentNames(all)
	byName, regions := map[string]*Environment{}, map[string]string{}
	for i := range all {
		f := &all[i]
		column, varying := noColumn, f.varying()
		if captures {
			column = f.applicationColumn()
		}
		for j := range f.readings {
			r := &f.readings[j]
			name := cmp.Or(names[r.environmentID()], r.name)
			e, known := byName[name]
			if !known {
				e = &Environment{Name: name, rank: r.rank}
				byName[name], regions[name] = e, r.region
			}
			e.sandbox = e.sandbox || r.sandbox
			e.Paths = append(e.Paths, r.glob(column, varying))
			l.byFile[r.file] = e.Name
		}
	}
	for _, name := range sortedKeys(byName) {
		byName[name].Paths = simplify(byName[name].Paths)
		l.environments = append(l.environments, *byName[name])
	}
	arrange(l.environments, regions)
	return l
}

// environmentNames returns the most common spelling of each environment. If one
// family has two spellings, these are two environments with their own names.
func environmentNames(all []family) map[string]string {
	counts := map[string]map[string]int{}
	split := map[string]bool{}
	for i := range all {
		inFamily := map[string]string{}
		for j := range all[i].readings {
			r := &all[i].readings[j]
			id := r.environmentID()
			if counts[id] == nil {
				counts[id] = map[string]int{}
			}
			counts[id][r.name]++
			split[id] = split[id] || inFamily[id] != "" && inFamily[id] != r.name
			inFamily[id] = r.name
		}
	}
	names := map[string]string{}
	for id, spellings := range counts {
		if !split[id] {
			names[id] = mostCommon(spellings)
		}
	}
	return names
}

// mostCommon returns the key with the highest count, of several the first.
func mostCommon(counts map[string]int) string {
	return slices.MaxFunc(sortedKeys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
}

// arrange sorts environments on the way to production and makes those of the step
// before the parents of each: those of its own region if there are any. A sandbox
// is a parent only if there is nothing else.
func arrange(environments []Environment, regions map[string]string) {
	slices.SortFunc(environments, func(a, b Environment) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Name, b.Name))
	})
	var parents, step []Environment
	for i := range environments {
		e := &environments[i]
		if i > 0 && environments[i-1].rank != e.rank {
			parents = slices.DeleteFunc(slices.Clone(step), func(e Environment) bool { return e.sandbox })
			if len(parents) == 0 {
				parents = step
			}
			step = nil
		}
		own := slices.DeleteFunc(slices.Clone(parents), func(p Environment) bool { return regions[p.Name] != regions[e.Name] })
		if len(own) == 0 {
			own = parents
		}
		for _, parent := range own {
			e.After = append(e.After, parent.Name)
		}
		step = append(step, *e)
	}
}
