package forgetest

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"
)

// Page is a page of a list, counted from 1.
type Page struct{ Number, Size int }

// PageOf parses the parameters of a request. A missing or invalid size is the
// standard one; it is never more than most.
func PageOf(number, size string, standard, most int) Page {
	return Page{Number: bounded(number, 1, 1<<20), Size: bounded(size, standard, most)}
}

func bounded(text string, standard, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return standard
	}
	return min(n, most)
}

// Last returns the number of the last page of a list of this length.
func (p Page) Last(length int) int { return max(1, (length+p.Size-1)/p.Size) }

// Cut returns the elements of a page.
func Cut[T any](p Page, all []T) []T {
	begin := min((p.Number-1)*p.Size, len(all))
	return all[begin:min(begin+p.Size, len(all))]
}

// Link returns an entry of the Link header: the same query for another page.
func Link(address string, query url.Values, page int, relation string) string {
	other := maps.Clone(query)
	other.Set("page", strconv.Itoa(page))
	return fmt.Sprintf("<%s?%s>; rel=%q", address, other.Encode(), relation)
}
