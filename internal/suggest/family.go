package suggest

import (
	"slices"
	"strings"
)

// family is a group of files with one layout, such as apps/*/overlays/ENV.
type family struct {
	key    string
	spots  []spot
	weight int // references, also those in a base that its environments share
}

// maxReadings is how many readings of one path are tried.
const maxReadings = 4

// families sorts files by layout. A file whose likeliest reading gets no company
// is read in the next way. Taking one reading away can make another layout
// unconvincing, so this goes on until all that are left convince.
func families(files []candidate) []family {
	byKey := byLayout(files)
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
		byKey = byLayout(files)
	}
	return convincing(byKey)
}

func byLayout(files []candidate) map[string]*family {
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
		f.spots = append(f.spots, first)
		f.weight += c.weight
	}
	return byKey
}

// convincing returns the families that are, by their keys.
func convincing(byKey map[string]*family) []family {
	out := make([]family, 0, len(byKey))
	for _, key := range sortedKeys(byKey) {
		if byKey[key].convincing() {
			out = append(out, *byKey[key])
		}
	}
	return out
}

// convincing says whether the layout really tells environments apart: a word that
// means nothing else, or two stages. Beside the name of an application a word
// needs the same application in two stages.
func (f *family) convincing() bool {
	sure, steps := false, map[int]bool{}
	stages := map[string]map[string]bool{}
	for i := range f.spots {
		s := &f.spots[i]
		sure = sure || s.sure
		steps[s.rank/10] = true
		if stages[s.app] == nil {
			stages[s.app] = map[string]bool{}
		}
		stages[s.app][s.canonical] = true
	}
	if f.spots[0].app == "" {
		return sure || len(steps) > 1
	}
	return sure && slices.ContainsFunc(sortedKeys(stages), func(app string) bool { return len(stages[app]) > 1 })
}

// values returns what stands in a column of the family, with the environments in
// which each value is seen. Column at is the application beside the name of the
// environment; the column behind the path is the member below it.
func (f *family) values(column int) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for i := range f.spots {
		s := &f.spots[i]
		value := s.value(column)
		if out[value] == nil {
			out[value] = map[string]bool{}
		}
		out[value][s.canonical+"/"+s.region] = true
	}
	return out
}

func (s *spot) value(column int) string {
	switch {
	case column == s.at:
		return s.app
	case column > s.at:
		return s.member()
	default:
		return s.segments[column]
	}
}

// varying returns the columns that differ within the family, or whose one value
// is one of many to come.
func (f *family) varying() []int {
	first := &f.spots[0]
	var out []int
	for column := range first.at {
		if !variable(first.segments[column]) {
			continue
		}
		inContainer := column > 0 && containers[strings.ToLower(first.segments[column-1])]
		if len(f.values(column)) > 1 || inContainer {
			out = append(out, column)
		}
	}
	if first.app != "" {
		out = append(out, first.at)
	}
	return out
}

// noColumn says that nothing in the path names the application.
const noColumn = -1

// capture returns the column that names the application: of several the inner
// one, unless one name stands there below several outer ones.
func (f *family) capture() int {
	columns := f.varying()
	if len(columns) == 0 {
		return f.captureBelow()
	}
	inner := columns[len(columns)-1]
	if len(columns) > 1 && f.ambiguous(inner, columns[:len(columns)-1]) {
		inner = columns[0]
	}
	if f.travels(inner) {
		return inner
	}
	return noColumn
}

// captureBelow returns the column below the environment, when every file with a
// reference stands in a folder there.
func (f *family) captureBelow() int {
	first := &f.spots[0]
	below := first.next
	if first.at == len(first.segments)-1 {
		return noColumn
	}
	for i := range f.spots {
		if s := &f.spots[i]; s.member() == "" && (s.weight > 0 || f.weight == 0) {
			return noColumn
		}
	}
	if f.travels(below) {
		return below
	}
	return noColumn
}

// travels says whether some application is seen in two environments, so that it
// can be promoted. A family of one environment cannot tell.
func (f *family) travels(column int) bool {
	environments := map[string]bool{}
	for i := range f.spots {
		environments[f.spots[i].canonical+"/"+f.spots[i].region] = true
	}
	if len(environments) < 2 {
		return true
	}
	values := f.values(column)
	return slices.ContainsFunc(sortedKeys(values), func(v string) bool { return v != "" && len(values[v]) > 1 })
}

// ambiguous says whether a value of the inner column stands below different
// values of the outer ones.
func (f *family) ambiguous(inner int, outer []int) bool {
	above := map[string]string{}
	for i := range f.spots {
		s := &f.spots[i]
		var prefix strings.Builder
		for _, column := range outer {
			prefix.WriteString(s.segments[column] + "/")
		}
		value := s.value(inner)
		if known, seen := above[value]; seen && known != prefix.String() {
			return true
		}
		above[value] = prefix.String()
	}
	return false
}
