// Package pullrequest writes all text of branches and pull requests for the proposals of
// package propose: titles, bodies, commit messages, statuses, and replies to comments.
//
// It is pure: it performs no input or output.
package pullrequest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
)

const (
	maxTitle  = 250 // runes of a title; every forge accepts so many
	maxNamed  = 3   // items of a list in one line
	maxListed = 50  // moves in a commit message; its trailers name all
)

// Title returns the title of a pull request, which is also the subject of its
// commit: one line of at most 250 runes.
func Title(p Page) string {
	title := p.Environment.PullRequest.Title
	if title == "" {
		title = defaultTitle(p)
	} else {
		title = p.fill(title)
	}
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "")), " ")
	return printable.Shorten(title, maxTitle)
}

// defaultTitle is the title if the config has none.
func defaultTitle(p Page) string {
	rewrites := p.rewritesOnly()
	if len(p.Decisions) > 1 {
		format := "Promote %d applications to %s: %s"
		if rewrites {
			format = "Rewrite %d applications in %s: %s"
		}
		if !slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool { return !d.IsRollback() }) {
			format = "Roll back %d applications in %s: %s"
		}
		return fmt.Sprintf(format, len(p.Decisions), p.environment(), firstOf(p.applications()))
	}
	what := "everything"
	for _, application := range p.applications() {
		if application != config.DefaultApplication {
			what = application
		}
	}
	title := "Promote " + what + " to " + p.environment()
	if p.isRollback() {
		title = "Roll back " + what + " in " + p.environment()
	}
	if rewrites {
		title = "Rewrite " + what + " in " + p.environment()
	}
	var versions []string
	for _, m := range p.Moves() {
		if m.Form != "" {
			versions = append(versions, escape(m.String(), maxReason))
			continue
		}
		to := promotion.Label(m.To)
		if promotion.Label(m.From) == to {
			to = promotion.ShortDigest(m.To.Digest)
		}
		versions = append(versions, escape(m.Component+" "+to, maxName))
	}
	if len(versions) == 0 {
		return title
	}
	return title + ": " + firstOf(versions)
}

// environment returns the display name of the environment, which is in one line and mentions no user.
func (p Page) environment() string {
	return cmp.Or(escape(strings.TrimSpace(p.Environment.Title), maxName), p.Environment.Name)
}

// rewritesOnly reports whether the page only writes versions in another form.
func (p Page) rewritesOnly() bool {
	moves := p.Moves()
	return len(moves) > 0 && !slices.ContainsFunc(moves, func(m promotion.Move) bool { return m.Form == "" })
}

// fill replaces the placeholders of a text of the config. A placeholder with
// several values, such as the versions of several components, lists them.
func (p Page) fill(text string) string {
	moves := p.Moves()
	filled := []string{"{environment}", p.Environment.Name, "{application}", firstOf(p.applications())}
	each := func(of func(promotion.Move) string) string {
		var values []string
		for _, move := range moves {
			if value := escape(of(move), maxName); value != "" && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		return firstOf(values)
	}
	for placeholder, value := range map[string]func(promotion.Move) string{
		"{component}": func(m promotion.Move) string { return m.Component },
		"{version}":   func(m promotion.Move) string { return cmp.Or(m.To.Version, promotion.Label(m.To)) },
		"{tag}":       func(m promotion.Move) string { return m.To.Tag },
		"{digest}":    func(m promotion.Move) string { return m.To.Digest },
	} {
		filled = append(filled, placeholder, each(value))
	}
	return strings.NewReplacer(filled...).Replace(text)
}

// firstOf lists the first items and counts the others.
func firstOf(names []string) string { return printable.First(names, maxNamed, " and") }

// titleMark is a comment in the body of a pull request with a hash of the title
// that was written with it. Title and body are written in one request, so a title
// that matches the body is promoter's, whatever was pushed since.
func titleMark(title string) string {
	sum := sha256.Sum256([]byte(title))
	return "<!-- promoter:title " + hex.EncodeToString(sum[:8]) + " -->"
}

// WroteTitle reports whether a title was written together with the body of a pull
// request. False proves nothing: a user may have removed the mark.
func WroteTitle(body, title string) bool { return strings.Contains(body, titleMark(title)) }

// CommitMessage returns the subject, which is the title, and the body of the
// commit of a page; trailers follow it. It mentions no user and references no
// issue.
func CommitMessage(p Page) (subject, body string) {
	var lines []string
	for _, d := range p.Decisions {
		for _, move := range p.movesOf(d) {
			line := escape(move.String(), maxReason)
			if len(p.Decisions) > 1 {
				line = d.Application + ": " + line
			}
			lines = append(lines, line)
		}
	}
	if more := len(lines) - maxListed; more > 0 {
		lines = append(lines[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return Title(p), strings.Join(lines, "\n")
}

// Trailers returns the trailers of the commits of a proposal: that of its branch, and the
// one that merges it. What users wrote mentions no user and references no issue.
func Trailers(p propose.Proposal) []promotion.Trailer {
	snapshots, attributions := map[string]promotion.Snapshot{}, map[string]promotion.Attribution{}
	for _, d := range p.Decisions {
		snapshots[d.Application] = d.Snapshot
		attributions[d.Application] = promotion.AttributionOf(d).Map(func(text string) string {
			return links.Replace(escape(text, maxReason))
		})
	}
	return promotion.Trailers(p.Environment.Name, snapshots, attributions)
}

// links breaks links: forges close the issues that some texts link to.
var links = strings.NewReplacer("://", ":/"+zeroWidthSpace+"/")
