package suggest

import (
	"regexp"
	"slices"

	"promoter/internal/image"
)

// form is one way in which builds write tags: an expression whose first group is
// the same in all tags, and the expression that selects all such tags.
type form struct{ tags, selects string }

// timestampForms order by a time in the tag.
var timestampForms = []form{
	{`^([A-Za-z][A-Za-z0-9_.-]*?)-[0-9a-f]{7,40}-(?:1[0-9]{9}|20[0-9]{6,12})$`, `^%s-[0-9a-f]{7,40}-(?P<version>[0-9]{8,14})$`},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])(?:1[0-9]{9}|20[0-9]{6,12})$`, `^%s(?P<version>[0-9]{8,14})$`},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])(?:1[0-9]{9}|20[0-9]{6,12})-[0-9a-f]{7,40}$`, `^%s(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`},
	{`^()(?:1[0-9]{9}|20[0-9]{6,12})$`, `^[0-9]{8,14}$`},
	{`^()(?:1[0-9]{9}|20[0-9]{6,12})-[0-9a-f]{7,40}$`, `^(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`},
}

// dateForms have separators in the time, so they are compared as texts: their
// parts have fixed widths.
var dateForms = []form{
	{`^()20[0-9]{6}[-_.T][0-9]{4,6}Z?$`, `^[0-9]{8}[-_.T][0-9]{4,6}Z?$`},
	{`^()20[0-9]{2}-[0-9]{2}-[0-9]{2}$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`},
	{`^()20[0-9]{2}-[0-9]{2}-[0-9]{2}[-_T.][0-9][0-9-]*Z?$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}[-_T.][0-9][0-9-]*Z?$`},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z$`, `^%s(?P<version>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z)$`},
}

// timestamps are tags that hold the time of the build.
func timestamps(roots, _ []string, _ bool) guessed {
	for _, f := range timestampForms {
		if selects, ok := around(f.tags, f.selects, roots); ok {
			return guessed{image.Selection{Numeric: selects}, "The highest time in the tag is the newest."}
		}
	}
	for _, f := range dateForms {
		if selects, ok := around(f.tags, f.selects, roots); ok {
			return guessed{image.Selection{Alphabetical: selects}, "The last date in the tag is the newest."}
		}
	}
	return guessed{}
}

// commitForms end in the abbreviated or whole id of a commit, which says nothing
// about order.
var commitForms = []form{
	{`^([A-Za-z][A-Za-z0-9_.-]*?-)[0-9a-f]{7,40}$`, `^%s[0-9a-f]{7,}$`},
	{`^()[0-9a-f]{40}$`, `^[0-9a-f]{40}$`},
	{`^()[0-9a-f]{7,12}$`, `^[0-9a-f]{7,12}$`},
}

// hexLetter tells the id of a commit from a number of the same length.
var hexLetter = regexp.MustCompile(`[a-f][0-9a-f]*$`)

// commits are tags that name the commit of the build.
func commits(roots, _ []string, _ bool) guessed {
	if !slices.ContainsFunc(roots, hexLetter.MatchString) {
		return guessed{}
	}
	for _, f := range commitForms {
		if selects, ok := around(f.tags, f.selects, roots); ok {
			return guessed{image.Selection{Newest: selects}, "The tag names a commit, so the image that was built last is the newest."}
		}
	}
	return guessed{}
}

// buildForms hold the number of a build.
var buildForms = []form{
	{`^()[0-9]+$`, `^[0-9]+$`},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.]?)[0-9]+$`, `^%s(?P<version>[0-9]+)$`},
	{`^()[0-9]+-[0-9a-f]{7,40}$`, `^(?P<version>[0-9]+)-[0-9a-f]{7,40}$`},
}

// builds are tags that count.
func builds(roots, _ []string, _ bool) guessed {
	for _, f := range buildForms {
		if selects, ok := around(f.tags, f.selects, roots); ok {
			return guessed{image.Selection{Numeric: selects}, "The highest number in the tag is the newest."}
		}
	}
	return guessed{}
}
