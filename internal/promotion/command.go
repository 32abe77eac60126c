package promotion

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
)

// Verb is what a person may tell promoter in a comment on a pull request.
type Verb string

// The verbs of comments.
const (
	VerbHold    Verb = "hold"
	VerbResume  Verb = "resume"
	VerbReject  Verb = "reject"
	VerbPromote Verb = "promote"
	VerbRefresh Verb = "refresh"
	VerbExplain Verb = "explain"
	VerbHelp    Verb = "help"
)

// Command is what one comment says to promoter.
type Command struct {
	Verb        Verb
	Environment string // of promote
	Reason      string // of hold, resume and reject
	// Problem says what is wrong with the command, in words that quote nothing of
	// it but names; nothing is done then. Empty: it can be carried out.
	Problem string
}

// Bounds of a comment that is read.
const (
	CommandPrefix = "/promoter"
	maxCommand    = 1000 // bytes of the line
	maxCommands   = 100  // that are counted in one comment
)

// ReadCommand reads the one command of a comment: a line that begins with
// "/promoter". Lines in fences of code, in quotes and in what a page does not show
// are none. It is false for a comment without a command. Of several nothing is
// carried out: which of them were meant last cannot be seen.
func ReadCommand(comment string) (Command, bool) {
	lines := commandLines(comment)
	switch len(lines) {
	case 0:
		return Command{}, false
	case 1:
		return parseCommand(lines[0]), true
	}
	return Command{Problem: "a comment gives one command, and this one has several: write each in a comment of its own"}, true
}

// commandLines returns what follows the prefix in each line that is a command.
func commandLines(comment string) []string {
	var found []string
	var hidden hiding
	for line := range strings.SplitSeq(strings.ReplaceAll(comment, "\r\n", "\n"), "\n") {
		if hidden.hides(line) {
			continue
		}
		rest, begins := strings.CutPrefix(line, CommandPrefix)
		if begins && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			found = append(found, strings.TrimSpace(rest))
		}
		if len(found) == maxCommands {
			break
		}
	}
	return found
}

// hiding is what a line of Markdown stands in.
// https://spec.commonmark.org/0.31.2/#fenced-code-blocks
type hiding struct {
	fence   string // that closes it; empty: none is open
	comment bool   // of HTML
}

// hides says whether a line is no text that the page shows as such, and follows
// what opens and closes. A line at whose end a comment begins counts as text.
func (h *hiding) hides(line string) bool {
	if h.fence != "" {
		if closes(line, h.fence) {
			h.fence = ""
		}
		return true
	}
	was := h.comment
	h.comment = opensComment(line, h.comment)
	if was {
		return true
	}
	h.fence = opensFence(line)
	return h.fence != ""
}

// opensFence returns the fence that a line opens: three or more backticks or
// tildes, after at most three spaces.
func opensFence(line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	n := len(text) - len(strings.TrimLeft(text, text[:1]))
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return ""
	}
	return text[:n]
}

// closes says whether a line closes a fence: as many of the same sign or more, and
// nothing else.
func closes(line, fence string) bool {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return false
	}
	text = strings.TrimRight(text, " \t")
	return len(text) >= len(fence) && strings.Trim(text, fence[:1]) == ""
}

// opensComment says whether a comment of HTML is open at the end of a line.
func opensComment(line string, open bool) bool {
	for {
		sign := "<!--"
		if open {
			sign = "-->"
		}
		_, rest, found := strings.Cut(line, sign)
		if !found {
			return open
		}
		line, open = rest, !open
	}
}

// parseCommand reads what follows the prefix.
func parseCommand(text string) Command {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	verb, rest, _ := strings.Cut(text, " ")
	c := Command{Verb: Verb(strings.ToLower(verb))}
	switch {
	case len(text) > maxCommand:
		return Command{Problem: fmt.Sprintf("the command is longer than %d characters", maxCommand)}
	case verb == "":
		return Command{Verb: VerbHelp}
	case !slices.Contains(verbs(), c.Verb):
		return Command{Problem: "there is no such command"}
	case strings.HasPrefix(rest, "-"):
		c.Problem = fmt.Sprintf("%s takes no options here: it is about this pull request", c.Verb)
	case c.Verb == VerbPromote:
		c.Environment, c.Problem = promoteWhere(rest)
	case c.takesReason():
		c.Reason = rest
		if rest == "" && c.Verb == VerbReject {
			c.Problem = "reject needs the reason"
		}
	case rest != "":
		c.Problem = fmt.Sprintf("%s stands alone", c.Verb)
	}
	return c
}

func verbs() []Verb {
	return []Verb{VerbHold, VerbResume, VerbReject, VerbPromote, VerbRefresh, VerbExplain, VerbHelp}
}

func (c Command) takesReason() bool {
	return c.Verb == VerbHold || c.Verb == VerbResume || c.Verb == VerbReject
}

// promoteWhere reads the environment of a promotion. Which there are the config
// says.
func promoteWhere(text string) (environment, problem string) {
	switch {
	case text == "":
		return "", "promote needs the environment"
	case strings.Contains(text, " "):
		return "", "promote takes one environment and nothing else"
	case !config.ValidName(text):
		return "", "that is no name of an environment"
	}
	return text, ""
}

// String returns the command as it is written after the prefix, in one line.
func (c Command) String() string {
	text := string(c.Verb)
	for _, more := range []string{c.Environment, c.Reason} {
		if more != "" {
			text += " " + more
		}
	}
	return text
}

// Decides says whether the command changes what promoter does, and not only asks.
func (c Command) Decides() bool {
	return c.Verb == VerbHold || c.Verb == VerbResume || c.Verb == VerbReject || c.Verb == VerbPromote
}
