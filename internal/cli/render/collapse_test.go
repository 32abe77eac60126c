package render

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/promotion"
)

// Few targets have a line each. Of many, those that are equal share one, and the lines are
// at most ten, but for what failed.
func TestCollapse(t *testing.T) {
	t.Parallel()
	rowsOf := func(n int, reason func(i int) string) (all []row) {
		for i := range n {
			text := reason(i)
			all = append(all, row{application: fmt.Sprintf("svc-%02d", i), state: promotion.Waiting, text: text, failed: text == "failed"})
		}
		return all
	}
	for _, test := range []struct {
		name string
		all  []row
		want string
	}{
		{"few", rowsOf(2, func(int) string { return "x" }), "x|x"},
		{"many", rowsOf(60, func(int) string { return "x" }), "60 applications: x"},
		{"a range", rowsOf(60, func(i int) string { return fmt.Sprint(i / 20) }), "20 applications (svc-00 … svc-19): 0|20 applications (svc-20 … svc-39): 1|20 applications (svc-40 … svc-59): 2"},
		{"others", rowsOf(12, func(i int) string { return fmt.Sprint(i % 2) }), "6 applications (svc-00, svc-02, svc-04, and 3 more): 0|6 applications (svc-01, svc-03, svc-05, and 3 more): 1"},
		{"all differ", rowsOf(60, func(i int) string { return fmt.Sprint(i) }), "0|1|2|3|4|5|6|7|8|9|50 more applications"},
		{"a late failure", rowsOf(12, func(i int) string {
			if i == 11 {
				return "failed"
			}
			return fmt.Sprint(i)
		}), "0|1|2|3|4|5|6|7|8|9|failed|1 more application"},
	} {
		var lines []string
		for _, group := range collapse(test.all) {
			lines = append(lines, group.reason(test.all))
		}
		if got := strings.Join(lines, "|"); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}
