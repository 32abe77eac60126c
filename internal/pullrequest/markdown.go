package pullrequest

import "strings"

// writing is Markdown that grows by lines.
type writing struct{ strings.Builder }

func (b *writing) line(parts ...string) {
	for _, part := range parts {
		b.WriteString(part)
	}
	b.WriteByte('\n')
}

// paragraph writes a text with a blank line after it; nothing for no text.
func (b *writing) paragraph(text string) {
	if text != "" {
		b.line(text, "\n")
	}
}

// table writes a table; nothing when it has no rows.
func (b *writing) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	b.row(head)
	b.line("|", strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		b.row(row)
	}
	b.line()
}

func (b *writing) row(cells []string) {
	b.line("| ", strings.Join(cells, " | "), " |")
}
