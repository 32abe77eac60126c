package suggest

import (
	"regexp"
	"slices"

	"promoter/internal/image"
)

// form is one way in which builds write tags.
type form struct {
	tags    string // an expression whose group is the same in all tags
	selects string // the expression that selects them, with that text for %s
	order   order
}

// order is what tells which of two tags is newer.
type order string

const (
	byTime   order = "The highest time in the tag is the newest."
	byDate   order = "The last date in the tag is the newest."
	byNumber order = "The highest number in the tag is the newest."
	byBuild  order = "The number behind the version counts builds, so the image that was built last is the newest."
	byCommit order = "The tag names a commit, so the image that was built last is the newest."
)

// timedForms hold the time, the commit or the number of a build in a place that
// nothing else has. Parts of dates have fixed widths, so they compare as texts.
var timedForms = []form{
	{`^([A-Za-z][A-Za-z0-9_.-]*?)-[0-9a-f]{7,40}-(?:1[0-9]{9}|20[0-9]{6,12})$`, `^%s-[0-9a-f]{7,40}-(?P<version>[0-9]{8,14})$`, byTime},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])(?:1[0-9]{9}|20[0-9]{6,12})$`, `^%s(?P<version>[0-9]{8,14})$`, byTime},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])(?:1[0-9]{9}|20[0-9]{6,12})-[0-9a-f]{7,40}$`, `^%s(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`, byTime},
	{`^()(?:1[0-9]{9}|20[0-9]{6,12})$`, `^[0-9]{8,14}$`, byTime},
	{`^()(?:1[0-9]{9}|20[0-9]{6,12})-[0-9a-f]{7,40}$`, `^(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`, byTime},

	{`^()20[0-9]{6}[-_.T][0-9]{4,6}Z?$`, `^[0-9]{8}[-_.T][0-9]{4,6}Z?$`, byDate},
	{`^()20[0-9]{2}-[0-9]{2}-[0-9]{2}$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, byDate},
	{`^()20[0-9]{2}-[0-9]{2}-[0-9]{2}[-_T.][0-9][0-9-]*Z?$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}[-_T.][0-9][0-9-]*Z?$`, byDate},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z$`, `^%s(?P<version>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z)$`, byDate},

	{`^([A-Za-z][A-Za-z0-9_.-]*?-)[0-9a-f]{7,40}$`, `^%s[0-9a-f]{7,}$`, byCommit},
	{`^()[0-9a-f]{40}$`, `^[0-9a-f]{40}$`, byCommit},
	{`^()[0-9a-f]{7,12}$`, `^[0-9a-f]{7,12}$`, byCommit},

	{`^v?[0-9]+(?:\.[0-9]+){0,2}([-_](?:[A-Za-z0-9.]+-)*(?:ls|r|rev|build))[0-9]+$`, `^v?[0-9]+(\.[0-9]+){0,2}%s[0-9]+$`, byBuild},

	{`^()[0-9]+-[0-9a-f]{7,40}$`, `^(?P<version>[0-9]+)-[0-9a-f]{7,40}$`, byNumber},
}

// countedForms end in a number. They read more than was meant, so they come last.
var countedForms = []form{
	{`^()[0-9]+$`, `^[0-9]+$`, byNumber},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.]?)[0-9]+$`, `^%s(?P<version>[0-9]+)$`, byNumber},
}

func timed(roots, _ []string, _ bool) guessed { return formed(timedForms, roots) }

func counted(roots, _ []string, _ bool) guessed { return formed(countedForms, roots) }

// formed selects by the first form that all tags have.
func formed(forms []form, tags []string) guessed {
	for _, f := range forms {
		if f.order == byCommit && !slices.ContainsFunc(tags, hexLetter.MatchString) {
			continue
		}
		if selects, ok := around(f.tags, f.selects, tags); ok {
			return guessed{f.order.selection(selects), string(f.order)}
		}
	}
	return guessed{}
}

// hexLetter tells the id of a commit from a number of the same length.
var hexLetter = regexp.MustCompile(`[a-f][0-9a-f]*$`)

func (o order) selection(expression string) image.Selection {
	switch o {
	case byCommit, byBuild:
		return image.Selection{Newest: expression}
	case byDate:
		return image.Selection{Alphabetical: expression}
	default:
		return image.Selection{Numeric: expression}
	}
}
