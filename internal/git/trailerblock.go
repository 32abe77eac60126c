package git

import "strings"

// messageLines splits a commit message into its lines, each with its line feed,
// without what Git leaves out at the end: blank lines and comments, the list of
// conflicts that old versions left there, and all below a scissors line.
func messageLines(message string) []string {
	all := strings.SplitAfter(message, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	end, conflicts := 0, false // the lines before end count
	for i, text := range all {
		switch {
		case text == scissors:
			return all[:end]
		case text == "Conflicts:\n":
			conflicts = true
		case text == "\n", text[0] == '#', conflicts && text[0] == '\t':
		default:
			end, conflicts = i+1, false
		}
	}
	return all[:end]
}

// scissors is the line below which Git shows a change to whoever writes a message.
const scissors = "# ------------------------ >8 ------------------------\n"

// trailerBlock returns the lines of the last paragraph if it is one of trailers.
func trailerBlock(lines []string) []string {
	var found paragraph
	for i := len(lines) - 1; i >= titleEnd(lines); i-- {
		if lines[i][0] == '#' {
			found.others += found.indented
			found.indented = 0
			continue
		}
		if !blank(lines[i]) {
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

// titleEnd returns the index of the blank line below the first paragraph, or the
// number of lines.
func titleEnd(lines []string) int {
	for i, text := range lines {
		if text[0] != '#' && blank(text) {
			return i
		}
	}
	return len(lines)
}

// paragraph counts the lines of a paragraph, read from its end.
type paragraph struct {
	trailers int
	indented int  // lines that continue what stands above them, not met yet
	others   int  // lines that are no part of a trailer
	byGit    bool // there is a trailer that Git itself makes
}

func (p *paragraph) add(text string) {
	byGit := strings.HasPrefix(text, "Signed-off-by: ") || strings.HasPrefix(text, "(cherry picked from commit ")
	switch {
	case byGit || separator(text) > 0:
		p.trailers++
		p.byGit = p.byGit || byGit
		p.indented = 0
	case gitSpace(text[0]):
		p.indented++
	default:
		p.others += 1 + p.indented
		p.indented = 0
	}
}

// isTrailers says whether the paragraph is one of trailers: all of it, or a
// quarter where Git made one of them.
func (p *paragraph) isTrailers() bool {
	others := p.others + p.indented
	return p.byGit && p.trailers*3 >= others || p.trailers > 0 && others == 0
}

// separator returns where the colon of a trailer stands, below 1 if the line is
// none. Its key has letters, digits and hyphens; spaces may stand before the colon.
func separator(text string) int {
	spaced := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == ':':
			return i
		case i > 0 && (c == ' ' || c == '\t'):
			spaced = true
		case spaced || c != '-' && !alphanumeric(c):
			return -1
		}
	}
	return -1
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// gitSpaces are the bytes that Git holds for white space.
const gitSpaces = " \t\r\n"

func gitSpace(c byte) bool { return strings.IndexByte(gitSpaces, c) >= 0 }

func blank(text string) bool { return trimSpace(text) == "" }

func trimSpace(text string) string { return strings.Trim(text, gitSpaces) }
