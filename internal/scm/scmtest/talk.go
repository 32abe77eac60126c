package scmtest

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/scm"
)

// marker identifies our comment.
const marker = "<!-- promoter: stopped -->"

// talking tests comments.
func talking() []condition {
	return []condition{
		{
			name: "Comments lists them all, oldest first", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				for i := range 105 {
					x.People.Comment(t, Ann, made.Number, fmt.Sprintf("comment %d", i))
				}
				said := x.said(t, made.Number)
				if len(said) != 105 {
					t.Fatalf("%d comments", len(said))
				}
				for i, one := range said {
					if one.Body != fmt.Sprintf("comment %d", i) || one.ID == 0 || one.Created.IsZero() || one.Edited || one.Author.Login != Ann {
						t.Fatalf("comment %d is %+v", i, one)
					}
				}
			},
			without: func(t *testing.T, x *fixture) {
				fatal(t, "say", x.repo.Conversation().Say(t.Context(), 1, marker, "text"))
				if said := x.said(t, 1); len(said) != 0 {
					t.Errorf("comments: %+v", said)
				}
			},
		},
		{
			name: "Say says it once", feature: comments,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				for range 2 {
					fatal(t, "say", x.repo.Conversation().Say(t.Context(), made.Number, marker, "stopped "+marker))
				}
				if said := x.said(t, made.Number); len(said) != 1 || !said[0].Author.Same(x.repo.Info().Self) || said[0].Edited {
					t.Errorf("comments: %+v", said)
				}
			},
		},
		{
			name: "Say edits its comment, and finds it by the marker", feature: comments,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				talk := x.repo.Conversation()
				fatal(t, "say", talk.Say(t.Context(), made.Number, "<!-- other -->", "other"))
				fatal(t, "say", talk.Say(t.Context(), made.Number, marker, "first"))
				fatal(t, "say", talk.Say(t.Context(), made.Number, marker, "second"))
				said := x.said(t, made.Number)
				if len(said) != 2 {
					t.Fatalf("comments: %+v", said)
				}
				ours := said[1]
				if !ours.Edited || !strings.Contains(ours.Body, "second") || !strings.Contains(ours.Body, marker) || strings.Contains(ours.Body, "first") {
					t.Errorf("comments: %+v", said)
				}
			},
		},
		{
			name: "a marker in another user's comment is not ours", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.People.Comment(t, Eve, made.Number, marker+" all is well")
				fatal(t, "say", x.repo.Conversation().Say(t.Context(), made.Number, marker, "stopped"))
				said := x.said(t, made.Number)
				if len(said) != 2 || said[0].Body != marker+" all is well" || !strings.Contains(said[1].Body, "stopped") {
					t.Errorf("comments: %+v", said)
				}
			},
		},
	}
}

func (x *fixture) said(t *testing.T, number int) []scm.Comment {
	t.Helper()
	all, err := x.repo.Conversation().Comments(t.Context(), number)
	fatal(t, "comments", err)
	return all
}
