package render

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/promotion"
)

// maxListed is how many targets of one environment are listed one by one. Of more, those
// that have the same state, reason, and details share one line.
const maxListed = 10

// row is what is printed about one target.
type row struct {
	application string
	state       promotion.State
	text        string // the reason
	details     string // lines below
	failed      bool   // never only counted
}

// rows are the targets of an environment that share one line.
type rows struct {
	row
	applications []string // several: the line names or counts them
	more         bool     // they have several reasons, and are only counted
}

// collapse groups the rows of one environment in the order of their first row: each alone
// if there are few. Of many it lists up to maxListed groups, and counts the rest by state.
func collapse(all []row) []rows {
	var groups []rows
	few := len(all) <= maxListed
	for _, r := range all {
		i := slices.IndexFunc(groups, func(g rows) bool {
			return g.state == r.state && g.text == r.text && g.details == r.details && g.failed == r.failed
		})
		if few || i < 0 {
			groups = append(groups, rows{row: r, applications: []string{r.application}})
			continue
		}
		groups[i].applications = append(groups[i].applications, r.application)
	}
	if len(groups) <= maxListed || few {
		return groups
	}
	var listed, counted []rows
	for _, g := range groups {
		if len(listed) < maxListed || g.failed {
			listed = append(listed, g)
			continue
		}
		i := slices.IndexFunc(counted, func(c rows) bool { return c.state == g.state })
		if i < 0 {
			i, counted = len(counted), append(counted, rows{row: row{state: g.state}, more: true})
		}
		counted[i].applications = append(counted[i].applications, g.applications...)
	}
	return append(listed, counted...)
}

// reason returns the text of the line, with the applications if they are several. The line
// names neither if they are all of the environment.
func (g rows) reason(all []row) string {
	switch {
	case g.more:
		return Count(len(g.applications), "more application", "more applications")
	case len(g.applications) == 1:
		return g.text
	}
	text := Count(len(g.applications), "application", "applications")
	if len(g.applications) < len(all) {
		names := make([]string, 0, len(all))
		for _, r := range all {
			names = append(names, r.application)
		}
		text += " (" + shortNames(g.applications, names) + ")"
	}
	return strings.TrimSuffix(text+": "+g.text, ": ")
}

// shortNames names some of all applications: a range of neighbors by its ends, of others
// the first ones.
func shortNames(some, all []string) string {
	const shown = 3
	if len(some) <= shown {
		return strings.Join(some, ", ")
	}
	first := slices.Index(all, some[0])
	if first >= 0 && first+len(some) <= len(all) && slices.Equal(some, all[first:first+len(some)]) {
		return some[0] + " … " + some[len(some)-1]
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(some[:shown], ", "), len(some)-shown)
}
