package github

import (
	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
)

// Sizes of lists.
const (
	perPage  = 100 // the most that GitHub gives
	maxPages = 100 // of one list: a longer one is refused, never cut
)

// everything is the limit of a list that is read to its end.
const everything = 0

// pages reads a list to its end, or until read has given limit things.
func pages[T any](limit int, read func(gogithub.ListOptions) ([]T, *gogithub.Response, error)) ([]T, error) {
	options := gogithub.ListOptions{PerPage: perPage}
	if limit > 0 {
		options.PerPage = min(limit, perPage)
	}
	var all []T
	for range maxPages {
		list, resp, err := read(options)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if limit > 0 && len(all) >= limit {
			return all[:limit], nil
		}
		if resp.NextPage == 0 {
			return all, nil
		}
		options.Page = resp.NextPage
	}
	return nil, fault.New(fault.Invalid, "the list is longer than %d pages", maxPages)
}

// checkLimit refuses to list nothing, which is a mistake of the caller.
func checkLimit(limit int) error {
	if limit <= everything {
		return fault.New(fault.Internal, "the limit of a list must be positive, not %d", limit)
	}
	return nil
}
