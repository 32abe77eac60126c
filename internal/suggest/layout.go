package suggest

import (
	"cmp"
	"slices"

	"promoter/internal/edit"
)

// placeholder stands in a glob for the name of the application.
const placeholder = "{application}"

// layout is one way to read the tree as environments.
type layout struct {
	environments []Environment
	byFile       map[string]string // the environment of each file that was read so
	captures     bool
	because      string // why nothing, or not everything, is captured; for a comment
}

// mostly is the share of references, in hundredths, that layouts with an
// application must hold for the others to be left outside.
const mostly = 80

// layouts returns the ways to read the tree, the richest first. The last is the
// whole tree as one environment, which always loads.
func layouts(files []string, references []edit.Reference) []*layout {
	all := kept(families(candidates(files, references)), references)
	var out []*layout
	if len(all) > 0 {
		with, without := splitCaptures(all)
		switch {
		case len(without) == 0:
			out = append(out, newLayout(all, true, ""))
		case weightOf(with)*100 >= weightOf(all)*mostly && len(with) > 0:
			out = append(out, newLayout(with, true, "Files elsewhere name an environment but no application, so they stand outside."))
		}
		out = append(out, newLayout(all, false, whyNoCapture(with)))
		heaviest := slices.MaxFunc(all, func(a, b family) int { return cmp.Compare(a.weight, b.weight) })
		out = append(out, newLayout([]family{heaviest}, false, "Other folders were left out: their paths would lead into several environments."))
	}
	out = slices.DeleteFunc(out, func(l *layout) bool { return !l.worthwhile(references) })
	return append(out, newWholeTree(len(all) > 0, toolsOf(files)))
}

// worthwhile says whether the layout tells several environments apart, or at
// least has most of the references in its one.
func (l *layout) worthwhile(references []edit.Reference) bool {
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

func whyNoCapture(with []family) string {
	if len(with) > 0 {
		return "Some paths name no application, so everything is one application: it is promoted as a whole."
	}
	return "The paths name no applications, so everything is one application: it is promoted as a whole."
}

// newWholeTree is the layout of a tree in which no environments are seen.
func newWholeTree(seen bool, exclude []string) *layout {
	why := "No folder or file name says an environment, such as dev, staging or prod, so the whole tree is one."
	if seen {
		why = "What looks like environments overlaps, or holds little of the tree, so the whole tree is one."
	}
	return &layout{environments: []Environment{{Name: "main", Exclude: exclude, rank: rankProd, words: why}}}
}

// wholeTree says whether the layout is one environment that has all files.
func (l *layout) wholeTree() bool { return l.byFile == nil }

// kept drops the families without a reference, unless none has one. A reference
// in a base counts for the families beside it.
func kept(all []family, references []edit.Reference) []family {
	for _, prefix := range basePrefixes(references) {
		for i := range all {
			if all[i].beside(prefix) {
				all[i].weight++
			}
		}
	}
	var out []family
	for _, f := range all {
		if f.weight > 0 {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

func weightOf(all []family) (sum int) {
	for i := range all {
		sum += all[i].weight
	}
	return sum
}

// splitCaptures parts the families by whether their paths name applications.
func splitCaptures(all []family) (with, without []family) {
	for _, f := range all {
		if f.capture() == noColumn {
			without = append(without, f)
		} else {
			with = append(with, f)
		}
	}
	return with, without
}
