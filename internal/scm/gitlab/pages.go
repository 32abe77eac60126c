package gitlab

import (
	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm/rest"
)

// fewest is the least that a page is asked for. What is listed is sifted here, so
// that many which are not wanted would make many pages of a small limit.
const fewest = 20

// pages reads a list to its end, or until read has given limit things. GitLab
// counts no list of more than 10,000; the next page is all that is needed.
func pages[T any](limit int, read func(gogitlab.ListOptions) ([]T, *gogitlab.Response, error)) ([]T, error) {
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		list, resp, err := read(gogitlab.ListOptions{Page: page.Number, PerPage: max(page.Size, fewest)})
		if err != nil {
			return nil, 0, err
		}
		return list, resp.NextPage, nil
	})
}
