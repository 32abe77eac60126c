package docscheck

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// document is what the checks need of one Markdown file.
type document struct {
	links    []link
	anchors  map[string]bool
	commands []command // lines of shell blocks
	blocks   []block   // fenced blocks, whole
	spans    []span    // code spans of prose and tables
	rows     []row     // rows of tables, without the heads
}

type span struct {
	line int
	text string // without backticks
}

// row is one row of a table.
type row struct {
	line    int
	heading string // that the table is under
	cells   []string
}

type block struct {
	line int // of the fence
	text string
}

type link struct {
	line   int
	target string
}

type command struct {
	line int
	text string
}

var (
	fence      = regexp.MustCompile("^\\s*(```+|~~~+)\\s*([a-z]*)")
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	inlineLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)`)
	definition = regexp.MustCompile(`^\s*\[[^\]]+\]:\s+(\S+)`)
)

// parse reads the subset of Markdown that the documents use: headings, fenced
// blocks, code spans, inline links and link definitions.
func parse(text string) document {
	doc := document{anchors: map[string]bool{}}
	seen := map[string]int{}
	open, language, under := "", "", ""
	for i, line := range strings.Split(text, "\n") {
		if found := fence.FindStringSubmatch(line); found != nil && (open == "" || strings.HasPrefix(found[1], open)) {
			if open == "" {
				open, language = found[1], found[2]
				doc.blocks = append(doc.blocks, block{line: i + 1})
			} else {
				open = ""
			}
			continue
		}
		if open != "" {
			doc.blocks[len(doc.blocks)-1].text += line + "\n"
			doc.shell(i+1, language, line)
			continue
		}
		if found := heading.FindStringSubmatch(line); found != nil {
			under = found[1]
		}
		doc.prose(i+1, line, seen)
		doc.table(i+1, line, under)
	}
	return doc
}

// shell keeps the commands of a shell block: every line of `sh`, and what
// follows the prompt in `console`, where the rest is output.
func (d *document) shell(number int, language, line string) {
	typed, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
	switch {
	case language == "console" && !prompted:
		return
	case language != "console" && language != "sh":
		return
	case typed == "" || strings.HasPrefix(typed, "#"):
		return
	}
	d.commands = append(d.commands, command{number, typed})
}

func (d *document) prose(number int, line string, seen map[string]int) {
	if found := heading.FindStringSubmatch(line); found != nil {
		anchor := slug(found[1])
		if seen[anchor]++; seen[anchor] > 1 {
			anchor += "-" + strconv.Itoa(seen[anchor]-1)
		}
		d.anchors[anchor] = true
	}
	for _, found := range codeSpan.FindAllString(line, -1) {
		d.spans = append(d.spans, span{number, strings.Trim(found, "`")})
	}
	plain := codeSpan.ReplaceAllString(line, "")
	for _, found := range inlineLink.FindAllStringSubmatch(plain, -1) {
		d.links = append(d.links, link{number, found[1]})
	}
	if found := definition.FindStringSubmatch(plain); found != nil {
		d.links = append(d.links, link{number, found[1]})
	}
}

// table keeps a row of a table. The row before the line of dashes is the head.
func (d *document) table(number int, line, under string) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	switch {
	case !strings.HasPrefix(strings.TrimSpace(line), "|"):
	case strings.Trim(line, "|-: ") == "":
		d.rows = d.rows[:max(len(d.rows)-1, 0)]
	default:
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		d.rows = append(d.rows, row{number, under, cells})
	}
}

// slug makes the anchor that forges give a heading: lower case, punctuation
// dropped, spaces as dashes.
func slug(heading string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			out.WriteRune(r)
		case r == ' ':
			out.WriteByte('-')
		}
	}
	return out.String()
}
