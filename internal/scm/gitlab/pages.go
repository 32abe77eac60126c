package gitlab

import (
	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm/rest"
)

// fewest is the minimum page size. Lists are filtered here, so many unwanted items
// would require many pages of a small limit.
const fewest = 20

// pages reads a list completely, or until read has returned limit items. GitLab does
// not count lists of more than 10,000 items; the next page is sufficient.
func pages[T any](limit int, read func(gogitlab.ListOptions) ([]T, *gogitlab.Response, error)) ([]T, error) {
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		list, resp, err := read(gogitlab.ListOptions{Page: page.Number, PerPage: max(page.Size, fewest)})
		if err != nil {
			return nil, 0, err
		}
		return list, resp.NextPage, nil
	})
}
