package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// layout is one way to divide the tree into environments.
type layout struct {
	environments []Environment
	byFile       map[string]string // environment by file; nil: the whole tree is one
	captures     bool              // the paths name applications
	services     string            // a file with several services: each component is an application; empty: none is
	reason       string            // why they name none, or not all
	advice       string            // about its only environment, if that was guessed
}

// layouts returns the ways to divide the tree, the most detailed first. The last
// one is the whole tree as one environment, which always loads.
func layouts(files []string, references []edit.Reference) []*layout {
	all := families(candidates(files, references))
	recognized := len(all) > 0
	all = withReferences(all)
	var found []*layout
	if len(all) > 0 {
		if captured := withApplications(all); captured > 0 {
			reason := ""
			if captured < len(all) {
				reason = "Some paths name no application: there, the next folder or file is one."
			}
			found = append(found, newLayout(all, true, reason))
		}
		found = append(found, newLayout(all, false, oneApplication))
		heaviest := slices.MaxFunc(all, func(a, b *family) int { return cmp.Compare(a.weight, b.weight) })
		found = append(found, newLayout([]*family{heaviest}, false,
			"Other folders were left out: their paths would match several environments."))
	}
	found = slices.DeleteFunc(found, func(l *layout) bool { return l == nil || !l.isWorthwhile(references) })

	reason := "No folder or file is named after an environment, such as dev, staging or prod, so there is one environment."
	advice := "write one environment for each folder (paths) or branch (branch) that is deployed on its own"
	switch {
	case len(all) > 0:
		reason = "What looks like environments overlaps, or contains little of the tree, so there is one environment."
	case recognized:
		reason = "No environment has references of its own: all share the same files. So there is one environment, and a " +
			"change reaches all of them."
		advice = "let each environment set its own version: an entry under images in its kustomization.yaml, or a tag in " +
			"its values file; then run init again"
	}
	main := Environment{Name: "main", rank: rankProd, reason: reason}
	if l := oneEnvironment(main, references); l != nil {
		found = append(found, l)
	}
	main.Exclude = toolGlobs(files)
	found = append(found, &layout{environments: []Environment{main}})
	for _, l := range found {
		l.advice = advice
	}
	return found
}

// oneApplication is the reason of a layout whose paths name no applications.
const oneApplication = "The paths name no applications, so everything is one application: it is promoted as a whole."

// minServices is how many of the user's own images in one file make each of them an
// application. Fewer are likely one with its sidecar.
const minServices = 3

// divide makes each component an application if each environment has a file that names
// several, and no path names an application.
func (l *layout) divide(components []Component, references []edit.Reference) {
	own := map[image.Repository]bool{}
	for _, c := range components {
		own[c.Repository] = c.Off == "" && c.Artifact == image.ArtifactImage
	}
	services := map[string]map[image.Repository]bool{} // by file
	most := map[string]string{}                        // the file with the most services, by environment
	for _, r := range references {
		file := r.Position.File
		environment, ok := l.environmentOf(file)
		if !ok || !own[r.Repository] || !listsServices(r) {
			continue
		}
		if services[file] == nil {
			services[file] = map[image.Repository]bool{}
		}
		services[file][r.Repository] = true
		if len(services[file]) > len(services[most[environment]]) {
			most[environment] = file
		}
	}
	if l.captures || slices.ContainsFunc(l.environments, func(e Environment) bool { return len(services[most[e.Name]]) < minServices }) {
		return
	}
	l.services = most[l.environments[0].Name]
	if l.reason == oneApplication {
		l.reason = ""
	}
}

// listsServices reports whether a reference is in the values of a chart or in a
// kustomization. In a manifest, several images are the containers of one workload.
func listsServices(r edit.Reference) bool {
	return r.Shape == shapeValues || r.Shape == shapeKustomize || strings.HasPrefix(path.Base(r.Position.File), "values")
}

// withReferences leaves out the environments without a reference, and families with none
// of the others.
func withReferences(all []*family) []*family {
	weights := map[string]int{}
	for _, f := range all {
		for _, r := range f.readings {
			weights[r.environmentID()] += r.weight
		}
	}
	var left []*family
	for _, f := range all {
		f.readings = slices.DeleteFunc(f.readings, func(r *reading) bool { return weights[r.environmentID()] == 0 })
		if f.weight > 0 {
			left = append(left, f)
		}
	}
	return left
}

// withApplications counts the families whose paths name an application.
func withApplications(all []*family) (n int) {
	for _, f := range all {
		if f.applicationColumn() != noColumn {
			n++
		}
	}
	return n
}

// isWorthwhile reports whether the layout has several environments with a good part of
// the references that are deployed, or most of them in its only one.
func (l *layout) isWorthwhile(references []edit.Reference) bool {
	inside, deployed := 0, 0
	for _, r := range references {
		if _, ok := l.byFile[r.Position.File]; ok {
			inside++
		} else if _, isAside := isAside(r.Position.File); isAside {
			continue
		}
		deployed++
	}
	least := 2
	if len(l.environments) > 1 {
		least = 5
	}
	return least*inside >= deployed
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

// newLayout turns families into environments. It returns nil if the paths must name
// applications, and some have nothing that could be one.
func newLayout(all []*family, captures bool, reason string) *layout {
	l := &layout{byFile: map[string]string{}, captures: captures, reason: reason}
	names := environmentNames(all)
	byName, regions := map[string]*Environment{}, map[string]string{}
	for _, f := range all {
		column, varying := noColumn, f.varying()
		if captures {
			column = f.applicationColumn()
		}
		for _, r := range f.readings {
			byFallback := captures && (column == noColumn || column == r.next && r.member() == "")
			if byFallback && r.weight == 0 {
				continue
			}
			name := cmp.Or(names[r.environmentID()], r.name)
			e, known := byName[name]
			if !known {
				e = &Environment{Name: name, rank: r.rank}
				byName[name], regions[name] = e, r.region
			}
			e.sandbox = e.sandbox || r.sandbox
			path := r.glob(column, varying)
			if byFallback {
				path = r.fallback(column)
			}
			if captures && !strings.Contains(path, placeholder) {
				return nil
			}
			e.Paths = append(e.Paths, path)
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
func environmentNames(all []*family) map[string]string {
	counts := map[string]map[string]int{}
	split := map[string]bool{}
	for _, f := range all {
		inFamily := map[string]string{}
		for _, r := range f.readings {
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
