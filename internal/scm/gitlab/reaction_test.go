package gitlab_test

import (
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// A reaction changes the time of a note, as an edit does. It does not have the note
// listed a second time, since notes are listed by when they were written: what is
// answered is not heard again, neither where promoter remembers that it was heard nor,
// as an edited note, where that was lost.
func TestRecent_aReactionCountsAsAnEdit(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.project.Say(scmtest.Ann, made.Number, "/promoter hold")
	recent := func(since time.Time) []scm.Comment {
		t.Helper()
		said, err := repo.Conversation().Recent(t.Context(), since, 10)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	before := recent(made.Opened)
	if len(before) != 1 || before[0].Edited {
		t.Fatalf("as it was written: %+v", before)
	}
	if err := repo.Conversation().React(t.Context(), before[0], scm.ReactionDone); err != nil {
		t.Fatal(err)
	}
	after := recent(made.Opened)
	if len(after) != 1 || !after[0].Edited || !after[0].Changed.Equal(before[0].Changed) {
		t.Errorf("with a reaction: %+v", after)
	}
	if later := recent(before[0].Changed.Add(time.Second)); len(later) != 0 {
		t.Errorf("by the time of the reaction: %+v", later)
	}
}
