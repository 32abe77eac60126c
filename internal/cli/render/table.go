package render

import (
	"strings"
	"unicode/utf8"
)

// Table returns one line for each row, in columns two spaces apart. Cells are printable; an
// empty one is a dash. Paint colors a cell; nil: no colors.
func Table(rows [][]string, paint func(column int, cell string) string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(Visible(cell)))
		}
	}
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var b strings.Builder
		spaces := 0
		for i, cell := range row {
			b.WriteString(strings.Repeat(" ", spaces))
			if cell = Visible(cell); cell == "" {
				cell = "-"
			}
			spaces = widths[i] - utf8.RuneCountInString(cell) + 2
			if paint != nil {
				cell = paint(i, cell)
			}
			b.WriteString(cell)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// UsedColumns returns a table without the columns that are empty in all rows but the first,
// which is the head.
func UsedColumns(rows [][]string) [][]string {
	used := make([]bool, len(rows[0]))
	for _, row := range rows[1:] {
		for i, cell := range row {
			used[i] = used[i] || cell != ""
		}
	}
	out := make([][]string, 0, len(rows))
	for _, row := range rows {
		var cells []string
		for i, cell := range row {
			if used[i] {
				cells = append(cells, cell)
			}
		}
		out = append(out, cells)
	}
	return out
}
