package gitlab

import (
	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm/rest"
)

// pages reads a list to its end, or until read has given limit things. GitLab
// counts no list of more than 10,000; the next page is all that is needed.
func pages[T any](limit int, read func(gogitlab.ListOptions) ([]T, *gogitlab.Response, error)) ([]T, error) {
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		list, resp, err := read(gogitlab.ListOptions{Page: page.Number, PerPage: page.Size})
		if err != nil {
			return nil, 0, err
		}
		return list, resp.NextPage, nil
	})
}
