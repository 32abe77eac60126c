package rest

import (
	"errors"
	"testing"

	"promoter/internal/fault"
)

// numbers returns a paginated list, and records the requested pages.
func numbers(total int, asked *[]Page) func(Page) ([]int, int, error) {
	return func(page Page) ([]int, int, error) {
		*asked = append(*asked, page)
		number := max(page.Number, 1)
		first := (number - 1) * page.Size
		var list []int
		for i := first; i < min(first+page.Size, total); i++ {
			list = append(list, i)
		}
		if first+page.Size >= total {
			return list, 0, nil
		}
		return list, number + 1, nil
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ total, limit, want, requests int }{
		{0, Everything, 0, 1}, {250, Everything, 250, 3}, {250, 5, 5, 1}, {250, 130, 130, 2}, {3, 5, 3, 1}, {200, Everything, 200, 2},
	} {
		var asked []Page
		got, err := Pages(test.limit, numbers(test.total, &asked))
		if err != nil || len(got) != test.want || len(asked) != test.requests {
			t.Errorf("%+v: %d in %v, %v", test, len(got), asked, err)
		}
		for i, number := range got {
			if i != number {
				t.Errorf("%+v: %d at %d", test, number, i)
				break
			}
		}
	}
}

// An endless list is an error, never truncated; a page that fails is an error of the
// list.
func TestPages_refuses(t *testing.T) {
	t.Parallel()
	count := 0
	_, err := Pages(Everything, func(page Page) ([]int, int, error) {
		count++
		return []int{1}, page.Number + 1, nil
	})
	if fault.KindOf(err) != fault.Invalid || count != 100 {
		t.Errorf("got %v after %d pages", err, count)
	}
	broken := errors.New("broken")
	got, err := Pages(Everything, func(page Page) ([]int, int, error) {
		if page.Number > 0 {
			return nil, 0, broken
		}
		return []int{1}, 2, nil
	})
	if !errors.Is(err, broken) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if CheckLimit(1) != nil || fault.KindOf(CheckLimit(0)) != fault.Internal {
		t.Error("the limit is checked wrongly")
	}
}
