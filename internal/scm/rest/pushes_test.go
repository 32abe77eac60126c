package rest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm"
)

// Pushes are read back to a move before the time that matters, and never further than some pages.
func TestPushes_end(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		perPage, pages int // of the forge
		since          time.Duration
		want           int // pages read
	}{
		"the first page":          {3, 9, 2 * time.Hour, 1},
		"the second page":         {3, 9, 3 * time.Hour, 2},
		"all pages":               {3, 2, 100 * time.Hour, 2},
		"too many pages":          {3, 9, 100 * time.Hour, maxPushPages},
		"pages of other branches": {0, 9, time.Hour, maxPushPages},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := 0
			pushes, err := Pushes(now.Add(-test.since), func(page Page) ([]scm.Push, int, error) {
				if page.Size != PerPage || max(page.Number, 1) != read+1 {
					t.Errorf("asked for %+v", page)
				}
				read++
				var list []scm.Push
				for i := range test.perPage {
					list = append(list, scm.Push{At: now.Add(-time.Duration((read-1)*test.perPage+i+1) * time.Hour)})
				}
				if read == test.pages {
					return list, 0, nil
				}
				return list, read + 1, nil
			})
			if err != nil || read != test.want || len(pushes) != read*test.perPage {
				t.Errorf("%d pages and %d pushes, %v, want %d pages", read, len(pushes), err, test.want)
			}
		})
	}
	_, err := Pushes(now, func(Page) ([]scm.Push, int, error) { return nil, 0, errors.New("no") })
	if err == nil {
		t.Error("an error is lost")
	}
}

func TestPushedCommit(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("a1", 20)
	for given, want := range map[string]string{
		commit: commit, strings.ToUpper(commit): commit, strings.Repeat("0", 40): "", strings.Repeat("0", 64): "", "": "", "main": "",
	} {
		if got := PushedCommit(given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}
