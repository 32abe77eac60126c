package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// family is a group of files whose paths have the same form, such as
// apps/*/overlays/ENVIRONMENT.
type family struct {
	key      string
	readings []*reading
	weight   int // number of references
}

// families groups files by the form of their paths. A file whose likeliest reading
// joins no convincing family is read in the next way. Removing a reading can make
// another family unconvincing, so this repeats until all that are left convince.
func families(files []candidate) []*family {
	byKey := groupByKey(files)
	for range maxReadings {
		good := convincing(byKey)
		if len(good) == len(byKey) {
			return good
		}
		for _, f := range good {
			delete(byKey, f.key)
		}
		for i, c := range files {
			if len(c.readings) > 0 && byKey[c.readings[0].key] != nil {
				files[i].readings = c.readings[1:]
			}
		}
		byKey = groupByKey(files)
	}
	return convincing(byKey)
}

func groupByKey(files []candidate) map[string]*family {
	byKey := map[string]*family{}
	for _, c := range files {
		if len(c.readings) == 0 {
			continue
		}
		first := c.readings[0]
		f, known := byKey[first.key]
		if !known {
			f = &family{key: first.key}
			byKey[first.key] = f
		}
		f.readings = append(f.readings, first)
		f.weight += c.weight
	}
	return byKey
}

func convincing(byKey map[string]*family) []*family {
	good := make([]*family, 0, len(byKey))
	for _, key := range sortedKeys(byKey) {
		if byKey[key].isConvincing() {
			good = append(good, byKey[key])
		}
	}
	return good
}

// isConvincing reports whether the paths really name environments: by a word
// without another meaning, or by two stages. Beside the name of an application, a
// word needs the same application in two stages.
func (f *family) isConvincing() bool {
	certain, steps := false, map[int]bool{}
	stages := map[string]map[string]bool{} // by application
	for _, r := range f.readings {
		certain = certain || r.certain
		steps[r.rank/10] = true
		if stages[r.app] == nil {
			stages[r.app] = map[string]bool{}
		}
		stages[r.app][r.canonical] = true
	}
	if f.readings[0].app == "" {
		return certain || len(steps) > 1
	}
	for _, of := range stages {
		if len(of) > 1 {
			return certain
		}
	}
	return false
}

// values returns the values in a column of the paths, with the environments in
// which each occurs. The column of the environment has the application beside its
// name, and columns after it the member below the environment.
func (f *family) values(column int) map[string]map[string]bool {
	values := map[string]map[string]bool{}
	for _, r := range f.readings {
		value := r.value(column)
		if values[value] == nil {
			values[value] = map[string]bool{}
		}
		values[value][r.environmentID()] = true
	}
	return values
}

func (r *reading) value(column int) string {
	switch {
	case column == r.at:
		return r.app
	case column > r.at && r.next == len(r.segments)-1:
		return strings.TrimSuffix(r.segments[r.next], extensionOf(r.segments[r.next]))
	case column > r.at:
		return r.member()
	default:
		return r.segments[column]
	}
}

// varying returns the columns that differ within the family, or whose one value
// is the first of many.
func (f *family) varying() []int {
	first := f.readings[0]
	var columns []int
	for column := range first.at {
		if !canVary(first.segments[column]) {
			continue
		}
		inContainer := column > 0 && containers[strings.ToLower(first.segments[column-1])]
		if len(f.values(column)) > 1 || inContainer {
			columns = append(columns, column)
		}
	}
	if first.app != "" {
		columns = append(columns, first.at)
	}
	return columns
}

// noColumn means that the paths do not name the application.
const noColumn = -1

// applicationColumn returns the column that names the application: the innermost
// one that varies, unless it has the same value below several outer ones; or the
// column below the environment, if every file with a reference is in a folder
// there.
func (f *family) applicationColumn() int {
	first := f.readings[0]
	columns := f.varying()
	if f.isByFile() && !slices.ContainsFunc(columns, func(column int) bool { return len(f.values(column)) > 1 }) {
		columns = nil
	}
	column := first.next
	if len(columns) > 0 {
		column = columns[len(columns)-1]
		if outer := columns[:len(columns)-1]; len(outer) > 0 && f.isAmbiguous(column, outer) {
			column = columns[0]
		}
	} else {
		if first.at == len(first.segments)-1 {
			return noColumn
		}
		// A file that is in no folder there is an application by itself, if most are not.
		below, beside := 0, 0
		for _, r := range f.readings {
			if r.member() == "" {
				beside += r.weight
			} else {
				below += r.weight
			}
		}
		if below <= beside && !f.isByFile() {
			return noColumn
		}
	}
	if !f.canPromote(column) {
		return noColumn
	}
	return column
}

// minByFile is how many files make it likely that each is an application.
const minByFile = 4

// isByFile reports whether the files in the folders of the environments are an application
// each: they are many, and most have no name of a part of one.
func (f *family) isByFile() bool {
	names := map[string]bool{}
	for _, r := range f.readings {
		if r.next != len(r.segments)-1 {
			continue
		}
		name := r.value(f.readings[0].next)
		if r.weight == 0 {
			return false
		}
		names[name] = kinds[strings.ToLower(name)]
	}
	unclear := 0
	for _, isKind := range names {
		if isKind {
			unclear++
		}
	}
	return len(names) >= minByFile && 2*unclear < len(names)
}

// canPromote reports whether some application is in two environments, so that it
// can be promoted. With one environment this is unknown.
func (f *family) canPromote(column int) bool {
	environments := map[string]bool{}
	for _, r := range f.readings {
		environments[r.environmentID()] = true
	}
	if len(environments) < 2 {
		return true
	}
	for value, in := range f.values(column) {
		if value != "" && len(in) > 1 {
			return true
		}
	}
	return false
}

// isAmbiguous reports whether a value of the inner column occurs below different
// values of the outer ones.
func (f *family) isAmbiguous(inner int, outer []int) bool {
	above := map[string]string{}
	for _, r := range f.readings {
		var prefix strings.Builder
		for _, column := range outer {
			prefix.WriteString(r.segments[column] + "/")
		}
		value := r.value(inner)
		if known, seen := above[value]; seen && known != prefix.String() {
			return true
		}
		above[value] = prefix.String()
	}
	return false
}

// placeholder is the name of the application in a glob.
const placeholder = "{application}"

// glob returns the path of the reading with the application in one column and * in
// the others that vary.
func (r *reading) glob(column int, varying []int) string {
	segments := slices.Clone(r.segments[:r.next])
	for _, i := range varying {
		value := "*"
		if i == column {
			value = placeholder
		}
		if i == r.at {
			segment := r.segments[i]
			value = r.replace(segment[len(r.before):len(segment)-len(r.after)], value)
		}
		segments[i] = value
	}
	switch {
	case column >= r.next:
		segments = append(segments, placeholder)
	case column == noColumn && r.hasRegionFolder():
		segments = segments[:r.at+2]
	case column == noColumn:
		segments = segments[:r.at+1]
	}
	return strings.Join(segments, "/")
}

// fallback returns the path of a file whose form names no application: with the file as
// one if others are in folders beside it, with the nearest folder that may have the name of
// one, or with the first thing below the environment.
func (r *reading) fallback(column int) string {
	segments := slices.Clone(r.segments)
	file := len(segments) - 1
	byFile := func() string {
		segments[file] = placeholder + extensionOf(segments[file])
		return strings.Join(segments, "/")
	}
	if column != noColumn && r.next == file {
		return byFile()
	}
	for _, nameable := range []func(string) bool{canVary, func(string) bool { return true }} {
		for i := r.at - 1; i >= 0; i-- {
			if nameable(segments[i]) {
				segments[i] = placeholder
				return strings.Join(segments[:r.at+1], "/")
			}
		}
	}
	switch {
	case r.at == file:
		if name, _, _ := strings.Cut(r.before, "."); name != "" {
			return placeholder + strings.TrimPrefix(segments[file], strings.TrimRight(name, "-_"))
		}
		return ""
	case r.at+1 == file:
		return byFile()
	default:
		segments[r.at+1] = placeholder
		return strings.Join(segments[:r.at+2], "/")
	}
}

// simplify sorts globs, the deeper first, and drops those that others cover.
func simplify(globs []string) []string {
	slices.Sort(globs)
	all := slices.Compact(globs)
	var needed []string
	for _, g := range all {
		if !slices.ContainsFunc(all, func(other string) bool { return other != g && covers(other, g) }) {
			needed = append(needed, g)
		}
	}
	slices.SortStableFunc(needed, func(a, b string) int {
		isFolder := func(g string) int { return strings.Count(g[len(g)-1:], "}") } // it also matches the files
		return cmp.Or(cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")), cmp.Compare(isFolder(a), isFolder(b)))
	})
	return needed
}

// covers reports whether a glob matches all files of another one, and captures the same: it is
// the same or a folder above, with * for any of the names.
func covers(glob, other string) bool {
	segments, others := strings.Split(glob, "/"), strings.Split(other, "/")
	if len(segments) > len(others) {
		return false
	}
	for i, segment := range segments {
		if segment != others[i] && (segment != "*" || strings.Contains(others[i], placeholder)) {
			return false
		}
	}
	return true
}

// baseOf returns the folder whose environments share the file: the parent of its
// base folder, or the folder of a values.yaml.
func baseOf(file string) (prefix string, ok bool) {
	segments := strings.Split(file, "/")
	for i, segment := range segments[:len(segments)-1] {
		if bases[strings.ToLower(segment)] {
			return strings.Join(segments[:i], "/"), true
		}
	}
	switch path.Base(file) {
	case "values.yaml", "values.yml", "base.yaml", "common.yaml":
		return strings.Join(segments[:len(segments)-1], "/"), true
	}
	return "", false
}

func isBelow(file, folder string) bool { return folder == "" || strings.HasPrefix(file, folder+"/") }
