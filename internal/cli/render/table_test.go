package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Columns stand below each other whatever the cells contain, colors or not.
func TestTable(t *testing.T) {
	t.Parallel()
	rows := UsedColumns([][]string{{"name", "health", "état", "why"}, {"shop", "", "ö", "\x1b[2Jx"}, {"a", "", "", ""}})
	want := []string{"name  état  why", `shop  ö     \x1b[2Jx`, "a     -     -"}
	if diff := cmp.Diff(want, Table(rows, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	red := func(column int, cell string) string {
		if column == 1 {
			return Painter(true).Paint(ColorRed, cell)
		}
		return cell
	}
	if got, want := Table(rows, red)[1], "shop  "+ColorRed+"ö"+ColorReset+`     \x1b[2Jx`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
