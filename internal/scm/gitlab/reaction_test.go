package gitlab_test

import (
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// A reaction changes the time of a note, as an edit does. It does not make the note
// be listed a second time, because notes are listed by creation time: a command that
// was replied to is not processed again, neither if promoter recorded that it was
// processed nor, as an edited note, if that record was lost.
func TestRecent_aReactionCountsAsAnEdit(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.project.Pulls.Comment(scmtest.Ann, made.Number, "/promoter hold")
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
