package github

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// activity is one move of a branch, for which the library has no type.
type activity struct {
	Before    string    `json:"before"`
	After     string    `json:"after"`
	Timestamp time.Time `json:"timestamp"`
}

// Pushed lists the activity of a branch, which also has merges, forced pushes, and deletions.
// https://docs.github.com/en/rest/repos/repos#list-repository-activities
func (r *repository) Pushed(ctx context.Context, branch string, since time.Time) ([]scm.Push, error) {
	query := url.Values{"ref": {"refs/heads/" + branch}, "per_page": {strconv.Itoa(rest.PerPage)}}
	pushes, err := rest.Pushes(since, func(page rest.Page) ([]scm.Push, int, error) {
		path := fmt.Sprintf("repos/%s/%s/activity?%s", url.PathEscape(r.owner), url.PathEscape(r.name), query.Encode())
		found, resp, err := readPage[activity](ctx, r.forge, path)
		if err != nil {
			return nil, 0, err
		}
		list := make([]scm.Push, len(found))
		for i, one := range found {
			list[i] = scm.Push{Before: rest.PushedCommit(one.Before), After: rest.PushedCommit(one.After), At: one.Timestamp.UTC()}
		}
		if resp.After == "" {
			return list, 0, nil
		}
		query.Set("after", resp.After) // pages have no numbers
		return list, page.Number + 1, nil
	})
	return pushes, explain(r.noun("activity of branch %s", rest.OneLine(branch)), err)
}
