package object

import (
	"strings"

	"promoter/internal/fault"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// Trailers are the trailers of a commit message, in order.
type Trailers []Trailer

// maxMessage is the longest message that is written, and the longest that is
// searched for trailers, in bytes. No honest commit exceeds it.
const maxMessage = 64 << 10

// ParseTrailers parses the trailers of a commit message by the rules of
// git-interpret-trailers: they are the last paragraph, if that is not the title and
// contains nothing else, or contains a trailer that Git itself writes. A folded
// value becomes one line.
func ParseTrailers(message string) Trailers {
	message, _, _ = strings.Cut(message, "\x00")
	if len(message) > maxMessage {
		return nil
	}
	var trailers Trailers
	var last *Trailer // continued by an indented line
	for _, line := range trailerBlock(messageLines(message)) {
		if last != nil && isGitSpace(line[0]) {
			last.Value = trimSpace(last.Value + " " + trimSpace(line))
			continue
		}
		if last = nil; separator(line) > 0 {
			key, value, _ := strings.Cut(line, ":")
			trailers = append(trailers, Trailer{Key: trimSpace(key), Value: trimSpace(value)})
			last = &trailers[len(trailers)-1]
		}
	}
	return trailers
}

// Message returns a commit message: the text, a blank line, and the trailers. It
// fails with Invalid if parsing the message would not return the same trailers, for
// example because a value contains a line break that starts another trailer.
func (t Trailers) Message(text string) (string, error) {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), " \t\r\n")
	if text == "" || strings.Contains(text, "\x00") {
		return "", fault.New(fault.Invalid, "a commit needs a message of text")
	}
	var message strings.Builder
	message.WriteString(text + "\n")
	if len(t) > 0 {
		message.WriteString("\n")
	}
	for _, trailer := range t {
		message.WriteString(trailer.Key + ": " + trailer.Value + "\n")
	}
	if message.Len() > maxMessage {
		return "", fault.New(fault.Invalid, "a commit message of %d bytes exceeds the limit of %d", message.Len(), maxMessage)
	}
	parsed := ParseTrailers(message.String())
	for i, trailer := range t {
		if len(parsed) != len(t) || parsed[i] != trailer {
			return "", fault.New(fault.Invalid, "the commit trailer %.200q would not be parsed unchanged", trailer)
		}
	}
	return message.String(), nil
}

// scissors is the line below which Git shows the diff in a message editor.
const scissors = "# ------------------------ >8 ------------------------\n"

// messageLines splits a message into lines, each with its line feed. Like Git, it
// drops blank lines and comments at the end, the list of conflicts that old versions
// of Git wrote there, and everything below a scissors line.
func messageLines(message string) []string {
	all := strings.SplitAfter(message, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	end, conflicts := 0, false // the lines before end are kept
	for i, line := range all {
		switch {
		case line == scissors:
			return all[:end]
		case line == "Conflicts:\n":
			conflicts = true
		case line == "\n", line[0] == '#', conflicts && line[0] == '\t':
		default:
			end, conflicts = i+1, false
		}
	}
	return all[:end]
}

// trailerBlock returns the lines of the last paragraph if it consists of trailers.
func trailerBlock(lines []string) []string {
	titleEnd := len(lines)
	for i, line := range lines {
		if line[0] != '#' && isBlank(line) {
			titleEnd = i
			break
		}
	}
	var found paragraph
	for i := len(lines) - 1; i >= titleEnd; i-- {
		if lines[i][0] == '#' {
			found.others += found.indented
			found.indented = 0
			continue
		}
		if !isBlank(lines[i]) {
			found.add(lines[i])
			continue
		}
		if found == (paragraph{}) {
			continue // a blank line below the last paragraph
		}
		if found.isTrailers() {
			return lines[i+1:]
		}
		break
	}
	return nil
}

// paragraph counts the lines of a paragraph, which is read from its end.
type paragraph struct {
	trailers int
	indented int  // lines that continue a line not read yet
	others   int  // lines that are not part of a trailer
	byGit    bool // Git itself wrote one of the trailers
}

func (p *paragraph) add(line string) {
	byGit := strings.HasPrefix(line, "Signed-off-by: ") || strings.HasPrefix(line, "(cherry picked from commit ")
	switch {
	case byGit || separator(line) > 0:
		p.trailers++
		p.byGit = p.byGit || byGit
		p.indented = 0
	case isGitSpace(line[0]):
		p.indented++
	default:
		p.others += 1 + p.indented
		p.indented = 0
	}
}

// isTrailers reports whether the paragraph counts as trailers: all of its lines are,
// or a quarter of them if Git wrote one.
func (p *paragraph) isTrailers() bool {
	others := p.others + p.indented
	return p.byGit && p.trailers*3 >= others || p.trailers > 0 && others == 0
}

// separator returns the index of the colon of a trailer, and less than 1 if the line
// is not a trailer. A key has letters, digits, and hyphens; spaces may precede the
// colon.
func separator(line string) int {
	spaced := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == ':':
			return i
		case i > 0 && (c == ' ' || c == '\t'):
			spaced = true
		case spaced || c != '-' && !isAlphanumeric(c):
			return -1
		}
	}
	return -1
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// gitSpaces are the bytes that Git treats as white space.
const gitSpaces = " \t\r\n"

func isGitSpace(c byte) bool { return strings.IndexByte(gitSpaces, c) >= 0 }

func isBlank(line string) bool { return trimSpace(line) == "" }

func trimSpace(text string) string { return strings.Trim(text, gitSpaces) }
