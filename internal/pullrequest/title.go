package pullrequest

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/image"
)

// maxTitle is the most runes of a title. Every forge takes so many.
const maxTitle = 250

// Title returns the title of a pull request, which is the subject of its commit
// too: one line, at most 250 runes.
func Title(p Page) string {
	title := p.Environment.PullRequest.Title
	if title == "" {
		title = p.ownTitle()
	} else {
		title = p.fill(title)
	}
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "")), " ")
	return shorten(title, maxTitle)
}

// ownTitle is the title where the config has none.
func (p Page) ownTitle() string {
	if len(p.Decisions) > 1 {
		return fmt.Sprintf("Promote %d applications to %s: %s", len(p.Decisions), p.Environment.Name, some(p.applications()))
	}
	words := "Promote " + p.what() + " to " + p.Environment.Name
	if p.isRollback() {
		words = "Roll back " + p.what() + " in " + p.Environment.Name
	}
	var targets []string
	for _, move := range p.moves() {
		targets = append(targets, target(move))
	}
	if len(targets) == 0 {
		return words
	}
	return words + ": " + some(targets)
}

// what names the application, where the repository tells several apart.
func (p Page) what() string {
	for _, application := range p.applications() {
		if application != config.DefaultApplication {
			return application
		}
	}
	return "everything"
}

func (p Page) isRollback() bool {
	return slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool { return d.Reason.Rule == promotion.RuleRollback })
}

// target says what a move leads to: the tag, or the digest where the tag stays.
func target(m promotion.Move) string {
	to := promotion.Label(m.To)
	if promotion.Label(m.From) == to {
		to = promotion.ShortDigest(m.To.Digest)
	}
	return disarm(m.Component+" "+to, maxOutside)
}

// maxNamed is how many of a list are named in one line.
const maxNamed = 3

// some names the first of a list and counts the others.
func some(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// fill replaces the placeholders of a text of the config. One that has several
// values, such as the versions of several components, gets all of them.
func (p Page) fill(text string) string {
	moves := p.moves()
	each := func(of func(promotion.Move) string) string {
		var values []string
		for _, move := range moves {
			if value := disarm(of(move), maxOutside); value != "" && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		return some(values)
	}
	return strings.NewReplacer(
		"{environment}", p.Environment.Name,
		"{application}", some(p.applications()),
		"{component}", each(func(m promotion.Move) string { return m.Component }),
		"{version}", each(func(m promotion.Move) string { return versionOrLabel(m.To) }),
		"{tag}", each(func(m promotion.Move) string { return m.To.Tag }),
		"{digest}", each(func(m promotion.Move) string { return m.To.Digest }),
	).Replace(text)
}

func versionOrLabel(v image.Version) string {
	if v.Version != "" {
		return v.Version
	}
	return promotion.Label(v)
}
