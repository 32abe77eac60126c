package suggest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/image"
)

// guessed is how versions may be selected, and why.
type guessed struct {
	image.Selection
	because string
}

// guess reads tags as one scheme. roots are those that decide: the tags of the
// environments that versions enter first. Where they mix schemes, the commonest
// tag decides alone. A guess that would not find the tags it was made of is none.
func guess(roots, all []string, thirdParty bool) guessed {
	if len(roots) == 0 {
		roots = all
	}
	if len(roots) == 0 {
		return guessed{image.Selection{Tag: "latest"}, "The files say a digest and no tag: name the tag that is moved to new versions, or select by version."}
	}
	if g, ok := scheme(roots, all, thirdParty); ok {
		return g
	}
	tag := usual(roots)
	if g, ok := scheme([]string{tag}, all, thirdParty); ok {
		g.because = join(g.because, "Other tags in the files look different.")
		return g
	}
	g := guessed{image.Selection{Tag: tag}, "How its tags are ordered is not clear, so the tag itself is followed: every new digest is a version."}
	if g.finds([]string{tag}) {
		return g
	}
	return guessed{image.Selection{Tag: "latest"}, "The tags in the files name no versions: say which tags do."}
}

// usual returns the commonest tag, before all others one that is no mere word.
func usual(tags []string) string {
	named := slices.DeleteFunc(slices.Clone(tags), letters.MatchString)
	if len(named) == 0 {
		named = tags
	}
	counts := map[string]int{}
	for _, tag := range named {
		counts[tag]++
	}
	return commonest(counts)
}

// scheme tries the known schemes in turn.
func scheme(roots, all []string, thirdParty bool) (guessed, bool) {
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	for _, try := range []func(roots, all []string, thirdParty bool) guessed{
		moving, versions, timed, filtered, counted,
	} {
		if g := try(roots, all, thirdParty); g.finds(roots) {
			return g, true
		}
	}
	return guessed{}, false
}

// finds says whether the selection is valid and accepts all the tags.
func (g guessed) finds(tags []string) bool {
	policy, err := image.NewPolicy(g.Selection)
	if err != nil {
		return false
	}
	return len(policy.Candidates(tags).Ordered) == len(tags)
}

var (
	letters   = regexp.MustCompile(`^[A-Za-z][A-Za-z_.-]*$`)
	smallInts = regexp.MustCompile(`^v?[0-9]{1,3}$`)
)

// moving is one tag that names no version: latest, main. A small number is the
// major version of an image of others, moved with each release.
func moving(roots, _ []string, thirdParty bool) guessed {
	if len(roots) != 1 || !letters.MatchString(roots[0]) && !(thirdParty && smallInts.MatchString(roots[0])) {
		return guessed{}
	}
	return guessed{
		image.Selection{Tag: roots[0]},
		"A moving tag: every new digest is a version, so the digest is written too.",
	}
}

var (
	dotted   = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){1,2}([-_+].*)?$`)
	suffixed = regexp.MustCompile(`^v?[0-9]+(?:\.[0-9]+){0,3}[-_+](.+)$`)
	// prerelease is what semantic versions know how to order.
	prerelease = regexp.MustCompile(`^(alpha|beta|rc|pre|preview|dev|snapshot|next|canary|nightly|m|b|a)?[-.]?[0-9.]*$`)
)

// versions are semantic versions, also with fewer numbers and with prereleases.
func versions(roots, all []string, _ bool) guessed {
	for _, tag := range roots {
		if !dotted.MatchString(tag) || !plainVersion(tag) {
			return guessed{}
		}
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(tag string) bool {
		return !dotted.MatchString(tag) || !plainVersion(tag)
	})
	return ranged(roots, rest, "", "")
}

// plainVersion says whether what stands behind the numbers, if anything, is a
// prerelease and not the variant of an image, such as alpine.
func plainVersion(tag string) bool {
	m := suffixed.FindStringSubmatch(tag)
	return m == nil || prerelease.MatchString(strings.ToLower(m[1]))
}

// ranged makes a range from the lowest version in the files to the next major
// one. The filter, if any, says which part of a tag is the version.
func ranged(roots, all []string, filter, words string) guessed {
	policy, err := image.NewPolicy(image.Selection{Semver: ">=0.0.0-0", Filter: filter})
	if err != nil {
		return guessed{}
	}
	found := policy.Candidates(slices.Concat(roots, all)).Ordered
	if len(found) == 0 {
		return guessed{}
	}
	low := strings.TrimPrefix(found[len(found)-1].Version, "v")
	low, _, _ = strings.Cut(low, "+")
	if numbers := strings.SplitN(low, ".", 4); len(numbers) == 4 && filter != "" {
		low = strings.Join(numbers[:3], ".") // a range knows three numbers
	}
	high, because := ceiling(found[0].Version)
	for _, pre := range []string{"", "-0"} {
		g := guessed{image.Selection{Semver: bound(low, high, pre), Filter: filter}, join(words, because)}
		if g.finds(slices.Compact(slices.Sorted(slices.Values(roots)))) {
			if pre != "" {
				g.because = join(g.because, "The -0 lets prereleases in.")
			}
			return g
		}
	}
	return guessed{}
}

// bound writes the range. A bound with -0 takes prereleases part.
func bound(low, high, pre string) string {
	if pre != "" {
		low, _, _ = strings.Cut(low, "-")
		low += pre
	}
	if high == "" {
		return ">=" + low
	}
	return ">=" + low + " <" + high + pre
}

// firstYear is the lowest major version that is taken for a year.
const firstYear = 1990

// ceiling is the next major version, which is a person's decision. Years have
// none.
func ceiling(version string) (high, because string) {
	major, _, _ := strings.Cut(strings.TrimLeft(version, "vV"), ".")
	number, err := strconv.Atoi(major)
	switch {
	case err != nil:
		return "", "No upper bound could be told."
	case number >= firstYear:
		return "", "Versions by date, so there is no next major version to stop at."
	default:
		return strconv.Itoa(number + 1), ""
	}
}

// filtered are versions with something around them that is not part of them.
func filtered(roots, all []string, _ bool) guessed {
	for _, form := range []struct{ part, filter, words string }{
		{`^([A-Za-z][A-Za-z0-9_.-]*?[-_])v?[0-9]+(?:\.[0-9]+){1,2}$`, `^%sv?(?P<version>[0-9]+(\.[0-9]+){1,2})$`, "Versions behind a fixed text."},
		{`^v?[0-9]+(?:\.[0-9]+){2}(-[0-9]+)-g[0-9a-f]{7,40}$`, `^v?(?P<version>[0-9]+(\.[0-9]+){2}-[0-9]+)-g[0-9a-f]{7,40}$`, "Versions as git describe writes them."},
		{`^v?[0-9]+(?:\.[0-9]+){1,2}([-_])[0-9a-f]{7,40}$`, `^v?(?P<version>[0-9]+(\.[0-9]+){1,2})%s[0-9a-f]{7,40}$`, "Versions with the commit behind them."},
		{
			`^v?[0-9]+(?:\.[0-9]+){0,2}([-_][A-Za-z][A-Za-z0-9_.-]*)$`, `^v?(?P<version>[0-9]+(\.[0-9]+){0,2})%s$`,
			"Versions of one variant of the image.",
		},
		{`^()[0-9]+(?:\.[0-9]+){3}$`, `^(?P<version>[0-9]+(\.[0-9]+){3})$`, "Versions of four numbers."},
	} {
		filter, ok := around(form.part, form.filter, roots)
		if !ok {
			continue
		}
		if g := ranged(roots, all, filter, form.words); g.finds(roots) {
			return g
		}
	}
	return guessed{}
}

// around fills the format with the text that all tags have in the group of the
// expression; false when one does not match, or has another.
func around(expression, format string, tags []string) (string, bool) {
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
