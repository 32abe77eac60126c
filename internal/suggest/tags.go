package suggest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/image"
)

// guess is how versions may be selected, and why.
type guess struct {
	image.Selection
	kind   GuessKind
	reason string
}

// guessSelection recognizes the scheme of tags. roots are the tags in the
// environments that versions enter first, which decide. If they mix schemes, the
// most common tag decides alone. A guess that would not find the tags that it was
// made from is discarded.
func guessSelection(roots, all []string, thirdParty bool) guess {
	if len(roots) == 0 {
		roots = all
	}
	if len(roots) == 0 {
		return guess{
			image.Selection{Tag: "latest"},
			GuessUnclearTags,
			"The files have a digest and no tag: name the tag that moves to new versions, or select by version.",
		}
	}
	if g, ok := recognize(roots, all, thirdParty); ok {
		return g
	}
	counts := map[string]int{}
	for _, tag := range roots {
		if !letters.MatchString(tag) {
			counts[tag]++
		}
	}
	if len(counts) == 0 { // tags that are only words are the last resort
		for _, tag := range roots {
			counts[tag]++
		}
	}
	tag := mostCommon(counts)
	if g, ok := recognize([]string{tag}, all, thirdParty); ok {
		g.kind, g.reason = GuessOtherTags, join(g.reason, "Other tags in the files look different.")
		return g
	}
	g := guess{
		image.Selection{Tag: tag},
		GuessUnclearTags,
		"The order of its tags is not clear, so the tag itself is followed: every new digest is a version.",
	}
	if g.finds([]string{tag}) {
		return g
	}
	return guess{image.Selection{Tag: "latest"}, GuessUnclearTags, "The tags in the files are not versions: specify which tags are."}
}

// recognize tries the known schemes in order.
func recognize(roots, all []string, thirdParty bool) (guess, bool) {
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	for _, try := range []func() guess{
		func() guess { return movingTag(roots, thirdParty) },
		func() guess { return semanticVersions(roots, all) },
		func() guess { return byForm(buildForms, roots) },
		func() guess { return filteredVersions(roots, all) },
		func() guess { return byForm(numberForms, roots) },
	} {
		if g := try(); g.finds(roots) {
			return g, true
		}
	}
	return guess{}, false
}

// finds reports whether the selection is valid and accepts all the tags.
func (g guess) finds(tags []string) bool {
	policy, err := image.NewPolicy(g.Selection)
	if err != nil {
		return false
	}
	return len(policy.Candidates(tags).Ordered) == len(tags)
}

var (
	letters  = regexp.MustCompile(`^[A-Za-z][A-Za-z_.-]*$`)
	smallInt = regexp.MustCompile(`^v?[0-9]{1,3}$`)
)

// movingTag recognizes one tag that is not a version: latest, main. For a
// third-party image, a small number is a major version that moves with each
// release.
func movingTag(roots []string, thirdParty bool) guess {
	if len(roots) != 1 || !letters.MatchString(roots[0]) && !(thirdParty && smallInt.MatchString(roots[0])) {
		return guess{}
	}
	return guess{
		image.Selection{Tag: roots[0]},
		GuessScheme,
		"A moving tag: every new digest is a version, so the digest is written too.",
	}
}

var (
	dotted   = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){1,2}([-_+].*)?$`)
	suffixed = regexp.MustCompile(`^v?[0-9]+(?:\.[0-9]+){0,3}[-_+](.+)$`)
	// prerelease is what semantic versioning can order.
	prerelease = regexp.MustCompile(`^(alpha|beta|rc|pre|preview|dev|snapshot|next|canary|nightly|m|b|a)?[-.]?[0-9.]*$`)
)

// semanticVersions recognizes semantic versions, also with fewer numbers and with
// prereleases.
func semanticVersions(roots, all []string) guess {
	other := func(tag string) bool {
		suffix := suffixed.FindStringSubmatch(tag) // otherwise the variant of an image, such as alpine
		return !dotted.MatchString(tag) || suffix != nil && !prerelease.MatchString(strings.ToLower(suffix[1]))
	}
	if slices.ContainsFunc(roots, other) {
		return guess{}
	}
	return semverRange(roots, slices.DeleteFunc(slices.Clone(all), other), "", "")
}

// semverRange returns a range from the lowest version in the files to the next
// major version. The filter, if any, defines which part of a tag is the version.
func semverRange(roots, all []string, filter, reason string) guess {
	policy, err := image.NewPolicy(image.Selection{Semver: ">=0.0.0-0", Filter: filter})
	if err != nil {
		return guess{}
	}
	found := policy.Candidates(slices.Concat(roots, all)).Ordered
	if len(found) == 0 {
		return guess{}
	}
	low := strings.TrimPrefix(found[len(found)-1].Version, "v")
	low, _, _ = strings.Cut(low, "+")
	if numbers := strings.SplitN(low, ".", 4); len(numbers) == 4 && filter != "" {
		low = strings.Join(numbers[:3], ".") // a range has three numbers
	}
	high, limit := upperBound(found[0].Version)
	for _, suffix := range []string{"", "-0"} { // -0 also includes prereleases
		bounded := ">=" + low
		if suffix != "" {
			base, _, _ := strings.Cut(low, "-")
			bounded = ">=" + base + suffix
		}
		if high != "" {
			bounded += " <" + high + suffix
		}
		g := guess{image.Selection{Semver: bounded, Filter: filter}, GuessRange, join(reason, limit)}
		if g.finds(slices.Compact(slices.Sorted(slices.Values(roots)))) {
			if suffix != "" {
				g.reason = join(g.reason, "The -0 includes prereleases.")
			}
			return g
		}
	}
	return guess{}
}

// firstYear is the lowest major version that is taken for a year.
const firstYear = 1990

// upperBound returns the next major version, which the user decides about; nothing
// for years.
func upperBound(version string) (high, reason string) {
	major, _, _ := strings.Cut(strings.TrimLeft(version, "vV"), ".")
	number, err := strconv.Atoi(major)
	switch {
	case err != nil:
		return "", "The next major version is unknown."
	case number >= firstYear:
		return "", "Versions by date, so there is no next major version to stop at."
	default:
		return strconv.Itoa(number + 1), ""
	}
}

// filteredVersions recognizes versions with text around them that is not part of
// the version.
func filteredVersions(roots, all []string) guess {
	for _, form := range []struct{ part, filter, reason string }{
		{
			`^([A-Za-z][A-Za-z0-9_.-]*?[-_])v?[0-9]+(?:\.[0-9]+){1,2}$`, `^%sv?(?P<version>[0-9]+(\.[0-9]+){1,2})$`,
			"Versions after a fixed text.",
		},
		{
			`^v?[0-9]+(?:\.[0-9]+){2}(-[0-9]+)-g[0-9a-f]{7,40}$`, `^v?(?P<version>[0-9]+(\.[0-9]+){2}-[0-9]+)-g[0-9a-f]{7,40}$`,
			"Versions as git describe writes them.",
		},
		{
			`^v?[0-9]+(?:\.[0-9]+){1,2}([-_])[0-9a-f]{7,40}$`, `^v?(?P<version>[0-9]+(\.[0-9]+){1,2})%s[0-9a-f]{7,40}$`,
			"Versions with the commit after them.",
		},
		{
			`^v?[0-9]+(?:\.[0-9]+){1,2}()_[0-9.]+$`, `^v?(?P<version>[0-9]+(\.[0-9]+){1,2}_[0-9.]+)$`,
			"Versions with a number after an underscore.",
		},
		{
			`^v?[0-9]+(?:\.[0-9]+){0,2}([-_][A-Za-z][A-Za-z0-9_.-]*)$`, `^v?(?P<version>[0-9]+(\.[0-9]+){0,2})%s$`,
			"Versions of one variant of the image.",
		},
		{`^()[0-9]+(?:\.[0-9]+){3}$`, `^(?P<version>[0-9]+(\.[0-9]+){3})$`, "Versions of four numbers."},
	} {
		filter, ok := fillIn(form.part, form.filter, roots)
		if !ok {
			continue
		}
		if g := semverRange(roots, all, filter, form.reason); g.finds(roots) {
			return g
		}
	}
	return guess{}
}

// form is one way in which builds write tags.
type form struct {
	tags    string // an expression whose group is the same in all tags
	selects string // the expression that selects them, with that text for %s
	order   order
}

// order is what makes one tag newer than another.
type order string

const (
	byTime   order = "The highest time in the tag is the newest."
	byDate   order = "The last date in the tag is the newest."
	byNumber order = "The highest number in the tag is the newest."
	byBuild  order = "The number after the version counts builds, so the image that was built last is the newest."
	byCommit order = "The tag names a commit, so the image that was built last is the newest."
)

// buildForms have the time, the commit, or the number of a build where no other
// form has one. The parts of dates have fixed widths, so they compare as text.
var buildForms = []form{
	{`^([A-Za-z][A-Za-z0-9_.-]*?)-[0-9a-f]{7,40}-(?:1[0-9]{9}|20[0-9]{6,12})$`, `^%s-[0-9a-f]{7,40}-(?P<version>[0-9]{8,14})$`, byTime},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])(?:1[0-9]{9}|20[0-9]{6,12})$`, `^%s(?P<version>[0-9]{8,14})$`, byTime},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])(?:1[0-9]{9}|20[0-9]{6,12})-[0-9a-f]{7,40}$`, `^%s(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`, byTime},
	{`^()(?:1[0-9]{9}|20[0-9]{6,12})$`, `^[0-9]{8,14}$`, byTime},
	{`^()(?:1[0-9]{9}|20[0-9]{6,12})-[0-9a-f]{7,40}$`, `^(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`, byTime},

	{`^()20[0-9]{6}[-_.T][0-9]{4,6}Z?$`, `^[0-9]{8}[-_.T][0-9]{4,6}Z?$`, byDate},
	{`^()20[0-9]{2}-[0-9]{2}-[0-9]{2}$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, byDate},
	{`^()20[0-9]{2}-[0-9]{2}-[0-9]{2}[-_T.][0-9][0-9-]*Z?$`, `^[0-9]{4}-[0-9]{2}-[0-9]{2}[-_T.][0-9][0-9-]*Z?$`, byDate},
	{
		`^([A-Za-z][A-Za-z0-9_.-]*?[-_.])20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z$`,
		`^%s(?P<version>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z)$`,
		byDate,
	},

	{`^20[0-9]{2}-[0-9]{2}-[0-9]{2}[-_T.][0-9]{4,6}([-_.][a-z]+)$`, `^(?P<version>[0-9]{4}-[0-9]{2}-[0-9]{2}[-_T.][0-9]{4,6})%s$`, byDate},

	{`^([A-Za-z][A-Za-z0-9_.-]*?-)[0-9a-f]{7,40}$`, `^%s[0-9a-f]{7,}$`, byCommit},
	{`^()[0-9a-f]{40}$`, `^[0-9a-f]{40}$`, byCommit},
	{`^()[0-9a-f]{7,12}$`, `^[0-9a-f]{7,12}$`, byCommit},

	{`^v?[0-9]+(?:\.[0-9]+){0,2}([-_](?:[A-Za-z0-9.]+-)*(?:ls|r|rev|build))[0-9]+$`, `^v?[0-9]+(\.[0-9]+){0,2}%s[0-9]+$`, byBuild},

	{`^()[0-9]+-[0-9a-f]{7,40}$`, `^(?P<version>[0-9]+)-[0-9a-f]{7,40}$`, byNumber},
}

// numberForms end in a number. They match more than intended, so they come last.
var numberForms = []form{
	{`^()[0-9]+$`, `^[0-9]+$`, byNumber},
	{`^([A-Za-z][A-Za-z0-9_.-]*?[-_.]?)[0-9]+$`, `^%s(?P<version>[0-9]+)$`, byNumber},
}

// commitLetter tells the ID of a commit from a number of the same length.
var commitLetter = regexp.MustCompile(`[a-f][0-9a-f]*$`)

// byForm selects by the first form that all tags have.
func byForm(forms []form, tags []string) guess {
	for _, f := range forms {
		if f.order == byCommit && !slices.ContainsFunc(tags, commitLetter.MatchString) {
			continue
		}
		expression, ok := fillIn(f.tags, f.selects, tags)
		if !ok {
			continue
		}
		g := guess{kind: GuessScheme, reason: string(f.order)}
		switch f.order {
		case byCommit, byBuild:
			g.Newest = expression
		case byDate:
			g.Alphabetical = expression
		default:
			g.Numeric = expression
		}
		return g
	}
	return guess{}
}

// fillIn fills the format with the text that all tags have in the group of the
// expression. It returns false if a tag does not match or has another text there.
func fillIn(expression, format string, tags []string) (string, bool) {
	re, common := regexp.MustCompile(expression), ""
	for i, tag := range tags {
		m := re.FindStringSubmatch(tag)
		if m == nil || i > 0 && m[1] != common {
			return "", false
		}
		common = m[1]
	}
	if !strings.Contains(format, "%s") {
		return format, true
	}
	return fmt.Sprintf(format, regexp.QuoteMeta(common)), true
}
