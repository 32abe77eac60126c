package pullrequest

import "strings"

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

// table writes a table; nothing if it has no rows.
func (m *markdown) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.row(head)
	m.line("|", strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		m.row(row)
	}
	m.line()
}

func (m *markdown) row(cells []string) {
	m.line("| ", strings.Join(cells, " | "), " |")
}
