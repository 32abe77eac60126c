package forgetest_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm/forgetest"
)

func TestPageOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		number, size string
		want         forgetest.Page
		part         []int
	}{
		{"", "", forgetest.Page{Number: 1, Size: 2}, []int{1, 2}},
		{"2", "", forgetest.Page{Number: 2, Size: 2}, []int{3, 4}},
		{"2", "100", forgetest.Page{Number: 2, Size: 3}, []int{4, 5}},
		{"9", "1", forgetest.Page{Number: 9, Size: 1}, []int{}},
		{"0", "x", forgetest.Page{Number: 1, Size: 2}, []int{1, 2}},
	} {
		got := forgetest.PageOf(test.number, test.size, 2, 3)
		if got != test.want {
			t.Errorf("page %q of %q: %+v, want %+v", test.number, test.size, got, test.want)
		}
		if diff := cmp.Diff(test.part, forgetest.Cut(got, []int{1, 2, 3, 4, 5})); diff != "" {
			t.Errorf("page %+v: %s", got, diff)
		}
	}
	two := forgetest.Page{Number: 1, Size: 2}
	for length, last := range map[int]int{0: 1, 1: 1, 2: 1, 3: 2, 5: 3} {
		if got := two.Last(length); got != last {
			t.Errorf("the last page of %d is %d, want %d", length, got, last)
		}
	}
}

func TestPage_Links(t *testing.T) {
	t.Parallel()
	query := url.Values{"page": {"2"}, "state": {"open"}}
	link := func(page, relation string) string {
		return `<https://forge.example.com/pulls?page=` + page + `&state=open>; rel="` + relation + `"`
	}
	want := strings.Join([]string{link("1", "prev"), link("1", "first"), link("3", "next"), link("3", "last")}, ", ")
	if got := (forgetest.Page{Number: 2, Size: 2}).Links("https://forge.example.com/pulls", query, 5); got != want || query.Get("page") != "2" {
		t.Errorf("links %s, want %s; the query is %v", got, want, query)
	}
}
