package github

import (
	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm/rest"
)

// pages reads a list completely, or until read has returned limit items.
func pages[T any](limit int, read func(gogithub.ListOptions) ([]T, *gogithub.Response, error)) ([]T, error) {
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		list, resp, err := read(gogithub.ListOptions{Page: page.Number, PerPage: page.Size})
		if err != nil {
			return nil, 0, err
		}
		return list, resp.NextPage, nil
	})
}
