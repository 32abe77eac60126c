package rest

import "promoter/internal/fault"

// Sizes of lists.
const (
	PerPage  = 100 // maximum of GitHub and GitLab
	maxPages = 100 // per list: a longer list is an error, never truncated
)

// Everything is the limit of a list that is read completely.
const Everything = 0

// Page is one page of a list.
type Page struct {
	Number int // counted from 1; zero: the first
	Size   int
}

// Pages reads a list completely, or until read has returned limit items. Read also
// returns the number of the next page, zero after the last one.
func Pages[T any](limit int, read func(Page) (list []T, next int, err error)) ([]T, error) {
	page := Page{Size: PerPage}
	if limit > 0 {
		page.Size = min(limit, PerPage)
	}
	var all []T
	for range maxPages {
		list, next, err := read(page)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if limit > 0 && len(all) >= limit {
			return all[:limit], nil
		}
		if next == 0 {
			return all, nil
		}
		page.Number = next
	}
	return nil, fault.New(fault.Invalid, "the list is longer than %d pages", maxPages)
}

// CheckLimit rejects a limit that would list nothing, which is a mistake of the
// caller.
func CheckLimit(limit int) error {
	if limit <= Everything {
		return fault.New(fault.Internal, "the limit of a list must be positive, not %d", limit)
	}
	return nil
}
