package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// row is one figure.
type row struct{ name, value string }

// wide is a type with its methods and the files that hold them.
type wide struct {
	name           string
	methods, files int
}

func (t *tree) rows() []row {
	var lines, files, functions []int
	var types []wide
	var against, edges, shipped int
	packages := map[string]*pkg{}
	for folder, p := range t.packages {
		packages[folder] = p
		lines, files = append(lines, p.lines), append(files, len(p.files))
		functions = append(functions, p.functions...)
		shipped += p.lines
		for name, methods := range p.methods {
			types = append(types, wide{folder[strings.LastIndex(folder, "/")+1:] + "." + name, methods, len(p.spread[name])})
		}
		a, e := p.upward()
		against, edges = against+a, edges+e
	}
	slices.SortFunc(types, func(a, b wide) int { return cmp.Or(b.methods-a.methods, strings.Compare(a.name, b.name)) })
	var widest []string
	for _, one := range types[:min(6, len(types))] {
		widest = append(widest, fmt.Sprintf("%s %d in %d", one.name, one.methods, one.files))
	}
	var largest []string
	for folder, p := range packages {
		if len(p.files) > 25 || p.lines > 3500 {
			largest = append(largest, fmt.Sprintf("%s %d/%d", folder, p.lines, len(p.files)))
		}
	}
	slices.Sort(largest)
	return []row{
		{"shipped lines, packages", fmt.Sprintf("%d, %d", shipped, len(lines))},
		{"test lines, with support code", fmt.Sprint(t.testLines)},
		{"lines per package, median and max", fmt.Sprintf("%d, %d", median(lines), slices.Max(lines))},
		{"files per package, median and max", fmt.Sprintf("%d, %d", median(files), slices.Max(files))},
		{"packages over 25 files or 3,500 lines", cmp.Or(strings.Join(largest, "; "), "none")},
		{"functions per 1,000 lines", fmt.Sprintf("%.0f", 1000*float64(len(functions))/float64(shipped))},
		{"function lines, median, 90th and 99th percentile, max", fmt.Sprintf("%d, %d, %d, %d",
			median(functions), quantile(functions, 90), quantile(functions, 99), slices.Max(functions))},
		{"widest types (methods in files)", strings.Join(widest, "; ")},
		{"types with more than 30 methods", fmt.Sprint(count(types, func(w wide) bool { return w.methods > 30 }))},
		{"upward dependencies between files of a package", fmt.Sprintf("%d of %d", against, edges)},
		{"the same in internal/engine and internal/reconcile", t.upwardBelow("internal/engine", "internal/reconcile")},
		{"the same in internal/workspace", t.upwardBelow("internal/workspace")},
		{"lines of more than 140 columns", fmt.Sprint(t.having(longLine))},
		{"statements of more than 200 characters", fmt.Sprint(t.having(longStatement))},
		{"if err == nil that assigns err, per 1,000 lines", perThousand(t.having(whileNoError), shipped)},
		{"three or more values assigned at once, per 1,000 lines", perThousand(t.having(parallel), shipped)},
		{"phrases per 1,000 comment lines", perThousand(t.commentHits, t.commentLines)},
		{"phrases per 1,000 words of documentation", perThousand(t.docHits, t.docWords)},
		{"phrases per 1,000 words of help and output", perThousand(t.helpHits, t.helpWords)},
		{"test names with codes", fmt.Sprintf("%d of %d", t.codedTests, t.testNames)},
	}
}

// having counts the places of the shipped code with a habit.
func (t *tree) having(h habit) int {
	return count(t.habits, func(f finding) bool { return f.habit == h })
}

// upwardBelow returns the upward dependencies between the files of the packages in some folders,
// together and of each.
func (t *tree) upwardBelow(folders ...string) string {
	var against, edges int
	var each []string
	for _, folder := range slices.Sorted(maps.Keys(t.packages)) {
		within := func(parent string) bool { return folder == parent || strings.HasPrefix(folder, parent+"/") }
		if !slices.ContainsFunc(folders, within) {
			continue
		}
		a, e := t.packages[folder].upward()
		against += a
		edges += e
		each = append(each, fmt.Sprintf("%s %d of %d", folder, a, e))
	}
	return fmt.Sprintf("%d of %d: %s", against, edges, cmp.Or(strings.Join(each, "; "), "none"))
}

func median(values []int) int { return quantile(values, 50) }

// quantile returns the value below which that many percent of the values lie.
func quantile(values []int, percent int) int {
	ordered := slices.Clone(values)
	slices.Sort(ordered)
	return ordered[min(len(ordered)*percent/100, len(ordered)-1)]
}

func perThousand(hits, of int) string {
	return fmt.Sprintf("%.1f", 1000*float64(hits)/float64(max(of, 1)))
}

func count[T any](values []T, is func(T) bool) int {
	n := 0
	for _, value := range values {
		if is(value) {
			n++
		}
	}
	return n
}
