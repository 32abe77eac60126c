package notify

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"promoter/internal/printable"
)

// Limits of what a message shows. A text that is above the limit of its service nevertheless, such as
// one of characters that are escaped, is made of shorter values.
const (
	maxValue    = 160 // runes of one value
	maxReason   = 300
	leastValue  = 20  // which no limit of a service needs less than
	maxListed   = 3   // versions
	maxHistory  = 8   // events
	maxLink     = 500 // bytes of a URL; longer ones are left out
	unprintable = "(not printable)"
)

// fact is one line of a message.
type fact struct{ name, value string }

// link is a link of a message. Its text is promoter's own.
type link struct{ text, url string }

// headline is what happened, in three parts: what changes, the verb, and where.
type headline struct{ subject, verb, where string }

// String returns the headline as one text.
func (h headline) String() string { return h.subject + " " + h.verb + " " + h.where }

// verbs are what a headline says about the change and the environment.
var verbs = map[State]string{
	Version: "is available for", Waiting: "waits for", Proposed: "is proposed for", Stuck: "is stuck in", Landed: "landed in",
	Healthy: "is healthy in", Failed: "failed in", Reverted: "was reverted in",
}

// defaultApplication is the application where there is only one.
const defaultApplication = "default"

func headlineOf(m Message) headline { return shortHeadline(m, maxValue) }

// shortHeadline is headlineOf with values of at most so many runes.
func shortHeadline(m Message, most int) headline {
	h := headline{subject: short(strings.Join(changes(m), ", "), most), verb: verbs[m.Last().State], where: short(m.Environment, most)}
	if m.Application != defaultApplication {
		h.where += " (" + short(m.Application, most) + ")"
	}
	if m.Test {
		h.verb += " – a test message about"
	}
	return h
}

// changes describes the versions that change, such as "web 1.4.1 -> 1.4.2".
func changes(m Message) []string {
	var all []string
	for i, c := range m.Versions {
		if i == maxListed && len(m.Versions) > maxListed+1 {
			return append(all, fmt.Sprintf("and %d more", len(m.Versions)-maxListed))
		}
		from, to := label(c.From, c.FromDigest), label(c.To, c.ToDigest)
		if c.From == c.To && c.FromDigest != "" { // another image under the same tag
			from, to = label("", c.FromDigest), label("", c.ToDigest)
		}
		text := c.Component + " " + to
		if from != "" {
			text = c.Component + " " + from + " -> " + to
		}
		all = append(all, short(text, maxValue))
	}
	if len(all) == 0 {
		return []string{"snapshot " + m.Snapshot}
	}
	return all
}

// label is a tag, or a digest that is shortened.
func label(tag, digest string) string {
	const hexDigits = 12
	algorithm, hex, _ := strings.Cut(digest, ":")
	return cmp.Or(tag, strings.TrimSuffix(algorithm+":"+hex[:min(len(hex), hexDigits)], ":"))
}

// facts returns the lines below the headline. With history, they list the events.
func facts(m Message, history bool) []fact { return shortFacts(m, history, maxReason) }

// shortFacts is facts with values of at most so many runes.
func shortFacts(m Message, history bool, most int) []fact {
	all := []fact{{"Repository", m.Repository}}
	last := m.Last()
	if last.Reason != "" {
		all = append(all, fact{"Reason", last.Reason})
	}
	if last.User != "" {
		all = append(all, fact{"By", last.User})
	}
	if history && len(m.Events) > 1 {
		var steps []string
		for _, event := range m.Events[max(0, len(m.Events)-maxHistory):] {
			steps = append(steps, string(event.State)+" "+event.At.UTC().Format("01-02 15:04"))
		}
		all = append(all, fact{"History", strings.Join(steps, ", ") + " UTC"})
	} else {
		all = append(all, fact{"Time", last.At.UTC().Format(time.RFC3339)})
	}
	for i := range all {
		all[i].value = short(all[i].value, most)
	}
	return all
}

func links(m Message) []link {
	var all []link
	if address := safeURL(m.PullRequest.URL); address != "" && len(address) <= maxLink {
		all = append(all, link{fmt.Sprintf("Pull request #%d", m.PullRequest.Number), address})
	}
	if address := safeURL(m.Page); address != "" && len(address) <= maxLink {
		all = append(all, link{"Dashboard", address})
	}
	return all
}

// short returns a text as a value. It is never empty: two backticks around nothing begin a span of code
// that ends elsewhere.
func short(text string, most int) string { return cmp.Or(printable.ShortLine(text, most), unprintable) }

// plain formats a message as plain text.
func plain(m Message, history bool) string {
	var b strings.Builder
	b.WriteString(headlineOf(m).String() + "\n\n")
	for _, f := range facts(m, history) {
		b.WriteString(f.name + ": " + f.value + "\n")
	}
	for _, l := range links(m) {
		b.WriteString(l.text + ": " + l.url + "\n")
	}
	return b.String()
}

// dialect is how a service formats text.
type dialect struct {
	most   int                           // size of a text
	size   func(text string) int         // as the service counts
	bold   string                        // around bold text
	code   func(text string) string      // a value that is shown as it is
	link   func(text, url string) string // a link
	bullet string
}

// format formats a message. Values are code, in which services recognize no mention, no link,
// and no markup. They become shorter until the service accepts the text: a message that it refuses
// would be none.
func (d dialect) format(m Message, history bool) string {
	most := maxReason
	text := d.formatShort(m, history, most)
	for d.size(text) > d.most && most > leastValue {
		most = max(leastValue, most/2)
		text = d.formatShort(m, history, most)
	}
	return text
}

// formatShort formats a message with values of at most so many runes.
func (d dialect) formatShort(m Message, history bool, most int) string {
	h := shortHeadline(m, min(most, maxValue))
	lines := []string{d.code(h.subject) + " " + d.bold + h.verb + d.bold + " " + d.code(h.where)}
	for _, f := range shortFacts(m, history, most) {
		lines = append(lines, d.bullet+f.name+": "+d.code(f.value))
	}
	var shown []string
	for _, l := range links(m) {
		shown = append(shown, d.link(l.text, l.url))
	}
	if len(shown) > 0 {
		lines = append(lines, strings.Join(shown, " · "))
	}
	return strings.Join(lines, "\n")
}

// markdown is the dialect of Discord and Mattermost. The limit is Discord's: 2,000 characters, which
// its clients count in UTF-16. Mattermost accepts 16,383.
// https://discord.com/developers/docs/resources/webhook#execute-webhook
var markdown = dialect{
	most: 2000, size: func(text string) int { return len(utf16.Encode([]rune(text))) },
	bold: "**", bullet: "- ",
	code: func(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" },
	link: func(text, url string) string { return "[" + text + "](" + url + ")" },
}
