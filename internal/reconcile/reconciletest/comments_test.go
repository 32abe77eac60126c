package reconciletest

import (
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// The forge in memory keeps the contract of scm.Conversation.
func TestConversation_conforms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	f := NewForge(NewGit(nil, now), func() time.Time { now = now.Add(time.Second); return now })
	f.pulls = []*pull{{PullRequest: scm.PullRequest{Number: 1, State: scm.StateClosed}}, {PullRequest: scm.PullRequest{Number: 2, State: scm.StateClosed}}}
	ann := identity.User{Host: "forge.example", Login: "ann"}
	first, second := f.Comment(1, ann, "first"), f.Comment(2, ann, "second")
	f.EditComment(first.ID, "edited")
	conversation := f.Conversation()
	comments, err := conversation.Recent(t.Context(), second.Changed, 10)
	if err != nil || len(comments) != 2 || comments[0].ID != second.ID || comments[1].Body != "edited" || !comments[1].Edited || comments[1].Number != 1 {
		t.Errorf("recent: %+v, %v", comments, err)
	}
	if comments, _ = conversation.Recent(t.Context(), time.Time{}, 1); len(comments) != 1 || comments[0].ID != second.ID {
		t.Errorf("the first: %+v", comments)
	}
	for range 2 {
		if err := conversation.React(t.Context(), second, scm.ReactionDone); err != nil {
			t.Error(err)
		}
	}
	if got := f.ReactionsTo(second.ID); len(got) != 1 || got[0] != scm.ReactionDone {
		t.Errorf("reactions: %v", got)
	}
	f.DeleteComment(second.ID)
	if err := conversation.React(t.Context(), second, scm.ReactionDone); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a deleted comment: %v", err)
	}
}
