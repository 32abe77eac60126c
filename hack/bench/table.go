package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// figure is one line of the table: a measured value, what it is compared with,
// and how many times that it may be.
type figure struct {
	name            string
	measured, basis string
	ratio, limit    float64
	limited         bool // false: reported only
	reported        bool // the ratio is, without a limit
}

func (f figure) verdict() string {
	switch {
	case !f.limited:
		return ""
	case f.ratio <= f.limit:
		return "ok"
	default:
		return "over"
	}
}

// memoryLimit is in bytes. editLimit is the time for one file, in times that of reading one.
const (
	memoryLimit = 150 << 20
	editLimit   = 11
)

// figures lists what docs/performance.md promises.
func figures(large, small *workload, edit time.Duration) []figure {
	grep, read := large.grep.median(), large.read.median()
	one := read / time.Duration(large.size.Len())
	return []figure{
		{name: "grep -rlF for one image", measured: large.grep.String()},
		{name: "reading every file in a Go loop", measured: large.read.String()},
		compare("plan --with, one image", large.planOne, grep, "grep", 1.5),
		compare("plan --with -, all images", large.planAll, grep+read, "grep + reading", 6),
		memoryWithin("peak memory, one image", large.memOne, memoryLimit),
		memoryWithin("peak memory, all images", large.memAll, memoryLimit),
		growth("time per file, one image", large.planOne, small.planOne, large, small),
		growth("time per file, all images", large.planAll, small.planAll, large, small),
		limited("edit of one file", edit.Round(fine).String(), "reading one "+one.Round(fine).String(), float64(edit)/float64(one), editLimit),
	}
}

func limited(name, measured, basis string, ratio, limit float64) figure {
	return figure{name: name, measured: measured, basis: basis, ratio: ratio, limit: limit, limited: true}
}

func compare(name string, measured samples, basis time.Duration, what string, limit float64) figure {
	ratio := float64(measured.median()) / float64(basis)
	return limited(name, measured.String(), fmt.Sprintf("%s %s", what, milliseconds(basis)), ratio, limit)
}

// fine is how exactly the times of one file are shown.
const fine = 100 * time.Nanosecond

// growth compares the time per file of the large tree with that of the small one.
func growth(name string, large, small samples, largeTree, smallTree *workload) figure {
	perLarge := large.median() / time.Duration(largeTree.size.Len())
	perSmall := small.median() / time.Duration(smallTree.size.Len())
	basis := fmt.Sprintf("%d files: %s", smallTree.size.Len(), perSmall.Round(fine))
	return limited(name, perLarge.Round(fine).String(), basis, float64(perLarge)/float64(perSmall), 1)
}

// String shows the median and how far the runs lie apart.
func (s samples) String() string {
	if len(s) == 0 {
		return "not measured"
	}
	low, high := s[0], s[0]
	for _, one := range s {
		low, high = min(low, one), max(high, one)
	}
	return fmt.Sprintf("%s (%.1f to %s)", milliseconds(s.median()), float64(low)/float64(time.Millisecond), milliseconds(high))
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func mebibytes(bytes int64) string {
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

func printTable(out io.Writer, figures []figure) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "figure\tmeasured\tcompared with\tratio\tlimit\t")
	for _, f := range figures {
		ratio, limit := "", ""
		if f.limited || f.reported {
			ratio = fmt.Sprintf("%.2f", f.ratio)
		}
		if f.limited {
			limit = fmt.Sprintf("%.2f", f.limit)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", f.name, f.measured, f.basis, ratio, limit, f.verdict())
	}
	return table.Flush()
}
