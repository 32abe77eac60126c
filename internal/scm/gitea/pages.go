package gitea

import (
	"strconv"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm/rest"
)

// perPage is the requested page size. A server returns at most MAX_RESPONSE_ITEMS,
// which is 50 by default.
const perPage = 50

// pages reads a list completely, or until it has limit items that keep accepts.
func pages[S, T any](limit int, read func(sdk.ListOptions) ([]S, *sdk.Response, error), keep func(S) (T, bool)) ([]T, error) {
	seen := 0
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		number := max(page.Number, 1)
		list, resp, err := read(sdk.ListOptions{Page: number, PageSize: perPage})
		if err != nil {
			return nil, 0, answered(resp, err)
		}
		var kept []T
		for _, one := range list {
			if wanted, ok := keep(one); ok {
				kept = append(kept, wanted)
			}
		}
		seen += len(list)
		if !more(resp, seen, len(list)) {
			return kept, 0, nil
		}
		return kept, number + 1, nil
	})
}

// more reports whether another page follows. Some lists have links, some report only
// the total count, and the server may return fewer items than requested.
func more(resp *sdk.Response, seen, got int) bool {
	switch total, err := strconv.Atoi(resp.Header.Get("X-Total-Count")); {
	case got == 0:
		return false
	case resp.NextPage != 0:
		return true
	case err == nil:
		return seen < total
	default:
		return resp.Header.Get("Link") == "" && got == perPage
	}
}

// all accepts every item.
func all[T any](one T) (T, bool) { return one, true }
