package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"

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

// basePrefixes returns the folders that hold a base with a reference.
func basePrefixes(references []edit.Reference) []string {
	found := map[string]bool{}
	for _, r := range references {
		if prefix, ok := baseOf(r.Position.File); ok {
			found[prefix] = true
		}
	}
	return sortedKeys(found)
}

// baseOf returns the folder whose environments share the file: that of its base
// folder, or of a values.yaml.
func baseOf(file string) (prefix string, ok bool) {
	segments := strings.Split(file, "/")
	for i, segment := range segments[:len(segments)-1] {
		if bases[strings.ToLower(segment)] {
			return strings.Join(segments[:i], "/"), true
		}
	}
	if base := path.Base(file); base == "values.yaml" || base == "values.yml" || base == "base.yaml" || base == "common.yaml" {
		return strings.Join(segments[:len(segments)-1], "/"), true
	}
	return "", false
}

// beside says whether some environment of the family lies below the folder.
func (f *family) beside(prefix string) bool {
	return slices.ContainsFunc(f.spots, func(s spot) bool {
		return prefix == "" || strings.HasPrefix(s.file, prefix+"/")
	})
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

func newLayout(all []family, captures bool, because string) *layout {
	l := &layout{byFile: map[string]string{}, captures: captures, because: because}
	names := namesOf(all)
	byName := map[string]*Environment{}
	regions := map[string]string{}
	for i := range all {
		column := noColumn
		if captures {
			column = all[i].capture()
		}
		varying := all[i].varying()
		for j := range all[i].spots {
			s := &all[i].spots[j]
			name := names[s.identity()]
			if name == "" {
				name = s.name
			}
			e, known := byName[name]
			if !known {
				e = &Environment{Name: name, rank: s.rank}
				byName[name] = e
			}
			e.aside = e.aside || s.aside
			e.Paths = append(e.Paths, s.glob(column, varying))
			regions[name] = s.region
			l.byFile[s.file] = name
		}
	}
	for _, name := range sortedKeys(byName) {
		byName[name].Paths = tidy(byName[name].Paths)
		l.environments = append(l.environments, *byName[name])
	}
	arrange(l.environments, regions)
	return l
}

// identity is one stage in one region, however it is spelled.
func (s *spot) identity() string { return s.canonical + "/" + s.region }

// namesOf chooses the commonest spelling of each environment. Where one family
// has two spellings they are two environments, which keep their own names.
func namesOf(all []family) map[string]string {
	counts := map[string]map[string]int{}
	split := map[string]bool{}
	for i := range all {
		own := map[string]string{}
		for j := range all[i].spots {
			s := &all[i].spots[j]
			id := s.identity()
			if counts[id] == nil {
				counts[id] = map[string]int{}
			}
			counts[id][s.name]++
			split[id] = split[id] || own[id] != "" && own[id] != s.name
			own[id] = s.name
		}
	}
	names := map[string]string{}
	for id, spellings := range counts {
		if !split[id] {
			names[id] = commonest(spellings)
		}
	}
	return names
}

// commonest returns the key with the highest count, of several the first.
func commonest(counts map[string]int) string {
	return slices.MaxFunc(sortedKeys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
}

// glob writes the path of the spot with the application in one column and * in
// the others that vary.
func (s *spot) glob(column int, varying []int) string {
	segments := slices.Clone(s.segments[:s.next])
	for _, i := range varying {
		stand := "*"
		if i == column {
			stand = placeholder
		}
		if i == s.at {
			segments[i] = s.around(s.spelled(), stand)
		} else {
			segments[i] = stand
		}
	}
	switch {
	case column >= s.next:
		segments = append(segments, placeholder)
	case column == noColumn:
		segments = segments[:s.end()]
	}
	return strings.Join(segments, "/")
}

// spelled is the name of the environment as the path has it.
func (s *spot) spelled() string {
	segment := s.segments[s.at]
	return segment[len(s.before) : len(segment)-len(s.after)]
}

// end is the first segment behind the name of the environment.
func (s *spot) end() int {
	if s.nested() {
		return s.at + 2
	}
	return s.at + 1
}

// tidy sorts globs, the deeper first, and drops those that others cover.
func tidy(globs []string) []string {
	slices.Sort(globs)
	globs = slices.Compact(globs)
	var out []string
	for _, g := range globs {
		covered := slices.ContainsFunc(globs, func(other string) bool { return strings.HasPrefix(g, other+"/") })
		if !covered {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/"))
	})
	return out
}
