package rest

import (
	"strings"
	"time"

	"promoter/internal/scm"
)

// maxPushPages is how many pages of pushes are read for one branch. Forges that cannot filter by branch list those of all.
const maxPushPages = 5

// Pushes reads how a branch moved, newest first, back to a move before since. Read also returns the number of the next page,
// zero after the last one.
func Pushes(since time.Time, read func(Page) (list []scm.Push, next int, err error)) ([]scm.Push, error) {
	var all []scm.Push
	page := Page{Size: PerPage}
	for range maxPushPages {
		list, next, err := read(page)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if next == 0 || len(all) > 0 && all[len(all)-1].At.Before(since) {
			break
		}
		page.Number = next
	}
	return all, nil
}

// PushedCommit returns a commit of a push; empty: it is none, such as the zeros of a branch that did not exist.
func PushedCommit(id string) string {
	if !IsCommit(id) || strings.Trim(id, "0") == "" {
		return ""
	}
	return strings.ToLower(id)
}
