// Package command reads the commands that users write in comments on pull
// requests: a line that begins with "/promoter", and that readers of the comment see as such.
package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/scm"
	"promoter/internal/verb"
)

// Prefix begins the line of a command.
const Prefix = "/promoter"

const maxLine = 1000 // bytes of a command

// Command is the command of one comment.
type Command struct {
	Verb        verb.Verb
	Environment string   // of promote
	Reason      string   // of hold, resume, reject, unreject, and rollback, and of a promotion that bypasses something
	Bypass      []string // of promote and rollback: conditions and gates, of verb.BypassableBy
	// Problem is what is wrong with the command; the command is not executed then.
	// It quotes nothing of the comment except names. Empty: the command is valid.
	Problem string
}

// Usage describes one verb of comments.
type Usage struct {
	Verb     verb.Verb
	Argument argument
	Help     string
}

type argument string

// The arguments that a verb takes, as the help shows them.
const (
	noArgument     argument = ""
	optionalReason argument = "[reason]"
	requiredReason argument = "REASON"
	environment    argument = "ENVIRONMENT"
)

// Usages returns the verbs of comments in the order of the help.
func Usages() []Usage {
	return []Usage{
		{verb.Hold, optionalReason, "stop promotions here: nothing is proposed or merged; open pull requests stay open"},
		{verb.Resume, optionalReason, "end a hold, a rollback, and failures here; rejected and reverted versions stay so"},
		{
			verb.Reject, requiredReason,
			"never propose the versions of this pull request again, in any environment; newer versions are still proposed",
		},
		{verb.Unreject, optionalReason, "allow the versions of this pull request here again: undo a rejection, a close, or a revert"},
		{verb.Rollback, optionalReason, "in a merged pull request: restore the versions from before it, and hold"},
		{verb.Promote, environment, "request a promotion into an environment; conditions and gates still apply"},
		{verb.Refresh, noArgument, "query the registries again and update this pull request"},
		{verb.Explain, noArgument, "show every condition and gate"},
		{verb.Help, noArgument, "show this help"},
	}
}

// String returns how the command is written in a comment.
func (u Usage) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", Prefix, u.Verb, u.Argument))
}

// Read returns the command of a comment; false if the comment has none. A command is what
// readers of the comment see as one: lines in quotes, code, HTML, and the like are ignored. If
// there are several commands, none is executed, because their order of intent is unknown.
func Read(comment string) (Command, bool) {
	lines := commandLines(comment)
	switch {
	case len(lines) == 0:
		return Command{}, false
	case len(lines) == 1 && lines[0].markup:
		return Command{Problem: "a command is plain text; write it without HTML"}, true
	case len(lines) == 1:
		return Parse(lines[0].text), true
	}
	return Command{Problem: "a comment can contain only one command; write each command in its own comment"}, true
}

// Digest identifies the command of a comment, or that it has none. Two texts of one comment
// that have the same digest differ in nothing that counts: forges change other parts of a
// text in a webhook, such as the addresses of images.
func Digest(comment string) string {
	c, found := Read(comment[:min(len(comment), scm.MaxComment)])
	sum := sha256.Sum256(fmt.Appendf(nil, "%t %t %q %q %q", found, c.Problem != "", c.Verb, c.Environment, c.Reason))
	if len(c.Bypass) > 0 {
		sum = sha256.Sum256(fmt.Appendf(sum[:], " %q", c.Bypass))
	}
	return hex.EncodeToString(sum[:])
}

// Parse reads what follows the prefix.
func Parse(text string) Command {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	name, rest, _ := strings.Cut(text, " ")
	c := Command{Verb: verb.Verb(strings.ToLower(name))}
	usages := Usages()
	i := slices.IndexFunc(usages, func(u Usage) bool { return u.Verb == c.Verb })
	switch {
	case len(text) > maxLine:
		return Command{Problem: fmt.Sprintf("the command is longer than %d characters", maxLine)}
	case name == "":
		return Command{Verb: verb.Help}
	case i < 0:
		return Command{Problem: "unknown command"}
	case strings.HasPrefix(rest, "-") && (c.Verb != verb.Rollback || !strings.HasPrefix(rest, bypassOption)):
		c.Problem = fmt.Sprintf("%s takes no options in a comment; it applies to this pull request", c.Verb)
		return c
	}
	switch usages[i].Argument {
	case environment:
		rest, c.Bypass, c.Reason, c.Problem = readBypass(c.Verb, rest)
		switch {
		case c.Problem != "":
		case rest == "":
			c.Problem = fmt.Sprintf("%s requires an environment", c.Verb)
		case strings.Contains(rest, " "):
			c.Problem = fmt.Sprintf("%s takes exactly one environment", c.Verb)
		case !field.ValidName(rest):
			c.Problem = "not a valid environment name"
		default:
			c.Environment = rest
		}
	case requiredReason, optionalReason:
		c.Reason = rest
		if c.Verb == verb.Rollback && strings.Contains(" "+rest, " "+bypassOption) {
			var before string
			if before, c.Bypass, c.Reason, c.Problem = readBypass(c.Verb, " "+rest); before != "" && c.Problem == "" {
				c.Problem = fmt.Sprintf("write %s before the reason", bypassOption)
			}
			return c
		}
		if rest == "" && usages[i].Argument == requiredReason {
			c.Problem = fmt.Sprintf("%s requires a reason", c.Verb)
		}
	default:
		if rest != "" {
			c.Problem = fmt.Sprintf("%s takes no arguments", c.Verb)
		}
	}
	return c
}

// bypassOption begins what a promotion or a rollback bypasses: a list with commas, and the reason.
const bypassOption = "--bypass"

// readBypass cuts the bypass from the arguments of a promotion or a rollback.
func readBypass(of verb.Verb, arguments string) (rest string, names []string, reason, problem string) {
	rest, option, found := strings.Cut(arguments, " "+bypassOption)
	if !found {
		return arguments, nil, "", ""
	}
	list, reason, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(option, "="), " "), " ")
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(verb.BypassableBy(of), name) {
			problem = bypassOption + " takes a list of " + strings.Join(verb.BypassableBy(of), ", ") + ", with commas, and then a reason"
			return rest, nil, "", problem
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if reason == "" {
		return rest, nil, "", bypassOption + " requires a reason"
	}
	return rest, names, reason, ""
}

// String returns the command as it is written after the prefix, in one line.
func (c Command) String() string {
	text, bypass := string(c.Verb), ""
	if len(c.Bypass) > 0 {
		bypass = bypassOption + " " + strings.Join(c.Bypass, ",")
	}
	for _, argument := range []string{c.Environment, bypass, c.Reason} {
		if argument != "" {
			text += " " + argument
		}
	}
	return text
}
