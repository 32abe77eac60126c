package scmtest

import (
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// reacting tests reactions to comments.
func reacting() []condition {
	return []condition{
		{
			name: "React adds each reaction once", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment, b.People.Reactions} },
			run: func(t *testing.T, x *fixture) {
				said := x.comment(t)
				for _, reaction := range []scm.Reaction{scm.ReactionDone, scm.ReactionRefused, scm.ReactionDone, scm.ReactionUnclear, scm.ReactionUnclear} {
					fatal(t, string(reaction), x.repo.Conversation().React(t.Context(), said, reaction))
				}
				got := x.People.Reactions(t, said)
				if len(got) != 3 {
					t.Errorf("reactions: %q", got)
				}
			},
			without: func(t *testing.T, x *fixture) {
				fatal(t, "react", x.repo.Conversation().React(t.Context(), scm.Comment{ID: 1, Number: 1}, scm.ReactionDone))
				x.reacted(t, scm.Comment{ID: 1, Number: 1}, false)
			},
		},
		{
			name: "Reacted reports our reactions", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment, b.People.Unsay} },
			run: func(t *testing.T, x *fixture) {
				said := x.comment(t)
				x.reacted(t, said, false)
				fatal(t, "react", x.repo.Conversation().React(t.Context(), said, scm.ReactionUnclear))
				x.reacted(t, said, true)
				x.People.Unsay(t, said)
				_, err := x.repo.Conversation().Reacted(t.Context(), said)
				wantKind(t, "of a comment that is gone", err, fault.NotFound)
			},
		},
		{
			name: "React to a comment that is gone finds none", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment, b.People.Unsay} },
			run: func(t *testing.T, x *fixture) {
				said := x.comment(t)
				x.People.Unsay(t, said)
				wantKind(t, "react", x.repo.Conversation().React(t.Context(), said, scm.ReactionDone), fault.NotFound)
				wantSaid(t, x.recent(t, time.Time{}, 10))
			},
		},
		{
			name: "React whose answer was lost is repeated", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment, b.People.Reactions, b.World.Lose} },
			run: func(t *testing.T, x *fixture) {
				said := x.comment(t)
				x.World.Lose(t)
				if err := x.repo.Conversation().React(t.Context(), said, scm.ReactionDone); err == nil {
					t.Error("a lost answer is no error")
				}
				fatal(t, "again", x.repo.Conversation().React(t.Context(), said, scm.ReactionDone))
				if got := x.People.Reactions(t, said); len(got) != 1 {
					t.Errorf("reactions: %q", got)
				}
			},
		},
	}
}

// reacted checks what Reacted reports about a comment.
func (x *fixture) reacted(t *testing.T, comment scm.Comment, want bool) {
	t.Helper()
	if got, err := x.repo.Conversation().Reacted(t.Context(), comment); err != nil || got != want {
		t.Errorf("reacted: %t, %v, want %t", got, err, want)
	}
}

// comment returns a comment by ann on our pull request.
func (x *fixture) comment(t *testing.T) scm.Comment {
	t.Helper()
	x.People.Comment(t, Ann, x.propose(t).Number, "/promoter promote prod")
	return x.recent(t, time.Time{}, 10)[0]
}
