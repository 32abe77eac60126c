package pullrequest

import (
	"slices"
	"strings"
)

// markdown is a text that grows by lines.
type markdown struct{ text strings.Builder }

func (m *markdown) String() string { return m.text.String() }

func (m *markdown) line(parts ...string) {
	for _, part := range parts {
		m.text.WriteString(part)
	}
	m.text.WriteByte('\n')
}

// paragraph writes a text with a blank line after it; nothing for no text.
func (m *markdown) paragraph(text string) {
	if text != "" {
		m.line(text, "\n")
	}
}

// table writes a table without the columns that are empty; nothing if it has no rows.
func (m *markdown) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for i := len(head) - 1; i >= 0; i-- {
		if slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		head = slices.Delete(slices.Clone(head), i, i+1)
		for k := range rows {
			rows[k] = slices.Delete(slices.Clone(rows[k]), i, i+1)
		}
	}
	m.row(head)
	m.line("|", strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		m.row(row)
	}
	m.line()
}

// What begins and ends a folded text, each on a line of its own.
const (
	foldBegin = "<details>"
	foldEnd   = "</details>"
)

// fold writes a text that is shown when its summary is opened. The summary is HTML:
// forges read no Markdown there. Every forge renders these elements; as plain text,
// the summary is a heading.
func (m *markdown) fold(summary, text string) {
	m.line(foldBegin)
	m.line("<summary>", summary, "</summary>\n")
	m.line(strings.TrimSpace(text), "\n")
	m.line(foldEnd, "\n")
}

func (m *markdown) row(cells []string) {
	m.line("| ", strings.Join(cells, " | "), " |")
}
