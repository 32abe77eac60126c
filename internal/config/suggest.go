package config

import (
	"slices"
	"strings"
)

// maxSuggest is the length above which no typing mistake is looked for.
const maxSuggest = 40

// didYouMean returns a hint that names the candidate nearest to what was
// written, and all candidates when none is near and they are few.
func didYouMean(written string, candidates []string) string {
	if best := nearest(written, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates))
	return "known here: " + strings.Join(sorted, ", ")
}

// nearest returns the candidate with the fewest edits, at most a third of its
// length; ties go to the one that stands first.
func nearest(written string, candidates []string) string {
	if len(written) > maxSuggest {
		return ""
	}
	best, least := "", maxSuggest
	for _, candidate := range candidates {
		edits := distance(plain(written), plain(candidate))
		if edits < least && edits <= max(1, len(candidate)/3) {
			best, least = candidate, edits
		}
	}
	return best
}

// plain drops what people commonly get wrong: case and separators.
func plain(s string) string {
	return separators.Replace(strings.ToLower(s))
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// distance counts insertions, deletions, replacements and swaps of neighbors
// between a and b (optimal string alignment).
func distance(a, b string) int {
	if len(b) > maxSuggest {
		return maxSuggest
	}
	var before, previous, row [maxSuggest + 1]int
	for j := range len(b) + 1 {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
