package enginetest

import (
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// The forge in memory holds to the sentences of scm.Conversation.
func TestConversation_conforms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	f := NewForge(NewGit(nil, now), func() time.Time { now = now.Add(time.Second); return now })
	f.pulls = []*pull{{PullRequest: scm.PullRequest{Number: 1, State: scm.StateClosed}}, {PullRequest: scm.PullRequest{Number: 2, State: scm.StateClosed}}}
	ann := identity.User{Host: "forge.example", Login: "ann"}
	first, second := f.Comment(1, ann, "first"), f.Comment(2, ann, "second")
	f.EditComment(first.ID, "edited")
	talk := f.Conversation()
	said, err := talk.Recent(t.Context(), second.Changed, 10)
	if err != nil || len(said) != 2 || said[0].ID != second.ID || said[1].Body != "edited" || !said[1].Edited || said[1].Number != 1 {
		t.Errorf("recent: %+v, %v", said, err)
	}
	if said, _ = talk.Recent(t.Context(), time.Time{}, 1); len(said) != 1 || said[0].ID != second.ID {
		t.Errorf("the first: %+v", said)
	}
	for range 2 {
		if err := talk.React(t.Context(), second, scm.ReactionDone); err != nil {
			t.Error(err)
		}
	}
	if got := f.ReactionsTo(second.ID); len(got) != 1 || got[0] != scm.ReactionDone {
		t.Errorf("reactions: %v", got)
	}
	f.DeleteComment(second.ID)
	if err := talk.React(t.Context(), second, scm.ReactionDone); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a deleted comment: %v", err)
	}
}
