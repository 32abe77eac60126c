package suggest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/printable"
	"promoter/internal/suggest/bots"
)

// within returns the guess limited to what other bots select: it never accepts a tag that
// one of them does not. If their rules have no equivalent, only the tag in the files is
// selected, so nothing moves until a user decides; of several tags, one would move to another.
func (g guess) within(rules []bots.Rule, roots, all []string) guess {
	selection := g.Selection
	kind := GuessPolicy
	reasons := []string{}
	complete := false
	for _, rule := range rules {
		problem, changed := rule.Problem, false
		switch s := rule.Selection; {
		case problem != "":
		case s.Semver+s.Tag+s.Newest+s.Numeric+s.Alphabetical == "":
			selection, changed, problem = limit(selection, rule, roots)
		case !complete:
			selection = s
			complete = true
			changed = true
		default:
			before := formatSelection(selection)
			selection, problem = both(selection, s)
			changed = formatSelection(selection) != before
		}
		if problem == "" && changed {
			problem = invalid(selection)
		}
		if problem != "" {
			frozen := guess{frozen(roots), GuessNarrowed, fmt.Sprintf("%s has no equivalent here: %s.", rule.Source, problem)}
			if !isOneTag(all) {
				frozen.reason += " The files have several tags."
			} else {
				frozen.reason += " Only the tag in the files is selected, so nothing moves until you decide."
			}
			if len(roots) == 0 || invalid(frozen.Selection) != "" {
				return g // the files have no tag
			}
			return frozen
		}
		if text := "As " + rule.Source + " selects."; changed && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	if len(reasons) == 0 {
		return g
	}
	if !complete {
		reasons = append([]string{g.reason}, reasons...)
	}
	return guess{selection.WithoutStrayGroups(), kind, join(reasons...)}
}

// limit applies the limits of a rule to a selection.
func limit(s image.Selection, rule bots.Rule, roots []string) (limited image.Selection, changed bool, problem string) {
	if s.Semver == "" && s.Tag == "" && (rule.Range != "" || rule.Filter != "") {
		return s, false, "the tags in the files are no semantic versions"
	}
	if s.Semver == "" { // rules about versions do not apply to a moving tag, or to builds
		return s, false, ""
	}
	before := s.Semver + s.Filter
	s.Semver = image.Intersect(s.Semver, rule.Range)
	switch {
	case rule.Filter == "":
	case s.Filter != "":
		return s, false, "it and the tags in the files have different patterns"
	default:
		s.Filter = rule.Filter
	}
	s.Exclude = append(slices.Clone(s.Exclude), rule.Exclude...)
	if rule.NoMinor {
		next, ok := nextMinor(s, roots)
		if !ok {
			return s, false, "the minor version of the tags is unknown"
		}
		from, _, _ := strings.Cut(s.Semver, " <")
		s.Semver = from + " <" + next
	}
	return s, s.Semver+s.Filter != before || len(rule.Exclude) > 0, ""
}

// nextMinor returns the minor version after the highest one in the files, where a range
// ends that accepts prereleases if the selection does.
func nextMinor(s image.Selection, roots []string) (version string, ok bool) {
	policy, err := image.NewPolicy(image.Selection{Semver: ">=0.0.0-0", Filter: s.Filter})
	if err != nil {
		return "", false
	}
	found := policy.Candidates(roots).Ordered
	if len(found) == 0 {
		return "", false
	}
	numbers := strings.SplitN(strings.TrimPrefix(found[0].Version, "v"), ".", 3)
	if len(numbers) < 2 {
		return "", false
	}
	digits := numbers[1][:len(numbers[1])-len(strings.TrimLeft(numbers[1], "0123456789"))]
	minor, err := strconv.Atoi(digits)
	if err != nil {
		return "", false
	}
	version = numbers[0] + "." + strconv.Itoa(minor+1)
	if strings.Contains(s.Semver, "-0") {
		version += "-0"
	}
	return version, true
}

// both returns a selection of the tags that two selections accept.
func both(a, b image.Selection) (both image.Selection, problem string) {
	both = a
	both.Exclude = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Exclude, b.Exclude))))
	switch {
	case a.Semver != "" && b.Semver != "" && (a.Filter == b.Filter || a.Filter == "" || b.Filter == ""):
		both.Semver, both.Filter = image.Intersect(a.Semver, b.Semver), a.Filter+b.Filter
		if a.Filter == b.Filter {
			both.Filter = a.Filter
		}
		return both, ""
	case a.Semver == b.Semver && a.Tag == b.Tag && a.Newest == b.Newest && a.Numeric == b.Numeric &&
		a.Alphabetical == b.Alphabetical && a.Filter == b.Filter:
		return both, ""
	}
	return a, "the same image is selected in another way elsewhere"
}

// invalid returns why a selection cannot be written; empty: it can.
func invalid(s image.Selection) string {
	for _, text := range append([]string{s.Semver, s.Tag, s.Newest, s.Numeric, s.Alphabetical, s.Filter}, s.Exclude...) {
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return "it contains a character that cannot be printed"
		}
	}
	if _, err := image.NewPolicy(s); err != nil {
		return err.Error()
	}
	return ""
}

// maxFrozen is how many tags a frozen selection lists.
const maxFrozen = 8

// isOneTag reports whether all tags are the same.
func isOneTag(tags []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(tags)))) == 1
}

// frozen returns a selection of nothing but the tags in the files.
func frozen(roots []string) image.Selection {
	tags := slices.Compact(slices.Sorted(slices.Values(roots)))
	for i := range tags {
		tags[i] = regexp.QuoteMeta(tags[i])
	}
	return image.Selection{Alphabetical: "^(" + strings.Join(tags[max(0, len(tags)-maxFrozen):], "|") + ")$"}
}

// botGuesses returns the guesses about other bots.
func (d *draft) botGuesses() (all []Guess) {
	for _, w := range d.found.Bots.Writers {
		g := Guess{Kind: GuessOtherBot, Text: "Also updated by " + printable.Line(w.Bot) +
			". Two bots undo each other's changes.", Positions: []edit.Position{{File: printable.Line(w.File)}}}
		var images []image.Repository
		for i := range d.Components {
			c := &d.Components[i]
			if c.Off == "" && slices.ContainsFunc(d.references, func(r edit.Reference) bool {
				return r.Repository == c.Repository && w.Updates(r.Position.File, r.Repository)
			}) {
				g.About, images = append(g.About, c.Name), append(images, c.Repository)
			}
		}
		if len(images) > 0 {
			g.Advice = printable.Line(w.Off(images))
			all = append(all, g)
		}
	}
	for _, source := range d.found.Bots.Unread {
		all = append(all, Guess{
			Kind: GuessOtherBot, Text: printable.Line(source) + " cannot be read, so what it updates and selects is unknown.",
			Advice: "check that it leaves the images below components alone, and that no select is wider than there",
		})
	}
	return all
}
