package gitea_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

// Gitea lists by creation time: an old comment that was edited is the first of its
// list and the last of ours.
func TestRecent_editedOfManyPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{MaxItems: 2})
	repo := w.open(t)
	pull := w.propose(t, repo)
	var ids []int64
	for i := range 5 {
		ids = append(ids, w.repo.Pulls.Comment("ann", pull.Number, fmt.Sprintf("word %d", i)))
	}
	w.repo.Pulls.Reword(ids[0], "another word")
	for limit, want := range map[int]string{10: "[word 1 word 2 word 3 word 4 another word]", 3: "[word 1 word 2 word 3]"} {
		said, err := repo.Conversation().Recent(t.Context(), time.Time{}, limit)
		must(t, "recent", err)
		var got []string
		for _, one := range said {
			got = append(got, one.Body)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("limit %d: %v, want %s", limit, got, want)
		}
	}
}

// An administrator can remove reactions from the list of a server.
func TestReact_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	id := w.repo.Pulls.Comment("ann", pull.Number, "/promoter promote prod")
	w.Fail("POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", 403, "'+1' is not an allowed reaction")
	err := repo.Conversation().React(t.Context(), scm.Comment{ID: id, Number: pull.Number}, scm.ReactionDone)
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "not an allowed reaction") {
		t.Errorf("got %v", err)
	}
}
