package scmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// recent tests the comments of a whole repository.
func recent() []condition {
	comment := func(b Bench) []any { return []any{b.People.Open, b.People.Comment} }
	return []condition{
		{
			name: "Recent lists the comments of all pull requests", feature: comments, hooks: comment, run: recentOfAll,
			without: func(t *testing.T, x *fixture) {
				if said := x.recent(t, time.Time{}, 10); len(said) != 0 {
					t.Errorf("recent comments: %+v", said)
				}
			},
		},
		{name: "Recent begins with since itself", feature: comments, hooks: comment, run: recentSince},
		{name: "Recent ends at the limit, and the next call goes on", feature: comments, hooks: comment, run: recentGoesOn},
		{
			name: "Recent reads more than 100", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Open, b.People.Comment, b.World.Requests} },
			run:   recentMany,
		},
		{
			name: "Recent reports that a comment was edited", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Open, b.People.Comment, b.People.Reword} },
			run:   recentEdited,
		},
		{
			name: "Recent leaves out issues, and what no account said", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment, b.People.Ask, b.People.Retitle} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.People.Ask(t, Ann, "/promoter promote prod")
				x.People.Retitle(t, Ann, made.Number, "Another title")
				x.People.Comment(t, Ann, made.Number, "a word")
				x.People.Close(t, Ann, made.Number)
				wantSaid(t, x.recent(t, time.Time{}, 100), "a word")
			},
		},
		{
			name: "a comment of a bot is reported as one", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.People.Comment(t, Robot, made.Number, "a bot")
				x.People.Comment(t, Ann, made.Number, "a person")
				for _, said := range [][]scm.Comment{x.recent(t, time.Time{}, 10), x.said(t, made.Number)} {
					if len(said) != 2 || !said[0].Bot || !said[0].Author.Bot || said[1].Bot || said[1].Author.Bot {
						t.Errorf("comments: %+v", said)
					}
				}
			},
		},
		{
			name: "a long comment is cut", feature: comments,
			hooks: func(b Bench) []any { return []any{b.People.Comment} },
			run: func(t *testing.T, x *fixture) {
				made, long := x.propose(t), strings.Repeat("aä", 30_000) // 90,000 bytes
				x.People.Comment(t, Ann, made.Number, long)
				for _, said := range [][]scm.Comment{x.recent(t, time.Time{}, 10), x.said(t, made.Number)} {
					if len(said) != 1 || len(said[0].Body) > scm.MaxComment || len(said[0].Body) < scm.MaxComment-4 || !utf8.ValidString(said[0].Body) {
						t.Errorf("%d comments", len(said))
					}
				}
			},
		},
		{
			name: "Recent of no comment is a mistake of the caller", feature: comments,
			run: func(t *testing.T, x *fixture) {
				_, err := x.repo.Conversation().Recent(t.Context(), time.Time{}, 0)
				wantKind(t, "recent", err, fault.Internal)
			},
		},
	}
}

// second opens a second pull request, to detect mix-ups.
func (x *fixture) second(t *testing.T) int {
	t.Helper()
	x.Git.Commit(t, Commit{By: Ann, Branch: "topic", Path: "b.yaml", Content: "b\n", Message: "Another"})
	return x.People.Open(t, Ann, "topic", Main, "Another")
}

// talk adds comments to two pull requests, alternately, and returns their bodies.
func (x *fixture) talk(t *testing.T, many int) []string {
	t.Helper()
	on, all := []int{x.propose(t).Number, x.second(t)}, []string{}
	for i := range many {
		all = append(all, fmt.Sprintf("comment %d", i))
		x.People.Comment(t, Ann, on[i%2], all[i])
	}
	return all
}

func recentOfAll(t *testing.T, x *fixture) {
	first, second := x.propose(t).Number, x.second(t)
	for i, number := range []int{first, second, first} {
		x.People.Comment(t, []string{Ann, Bob, Eve}[i], number, fmt.Sprintf("comment %d", i))
	}
	x.People.Close(t, Ann, second)
	said := x.recent(t, time.Time{}, 10)
	wantSaid(t, said, "comment 0", "comment 1", "comment 2")
	for i, number := range []int{first, second, first} {
		if said[i].Number != number || said[i].Author.Login != []string{Ann, Bob, Eve}[i] || said[i].ID == 0 || said[i].Edited {
			t.Errorf("comment %d is %+v", i, said[i])
		}
	}
	one := x.said(t, second)
	if len(one) != 1 || one[0] != said[1] {
		t.Errorf("of one pull request: %+v, of all: %+v", one, said[1])
	}
}

func recentSince(t *testing.T, x *fixture) {
	bodies := x.talk(t, 5)
	all := x.recent(t, time.Time{}, 10)
	wantSaid(t, all, bodies...)
	for i, one := range all {
		since := slices.IndexFunc(all, func(other scm.Comment) bool { return !other.Changed.Before(one.Changed) })
		if got := x.recent(t, one.Changed, 10); !slices.Equal(got, all[since:]) {
			t.Errorf("since comment %d: %+v", i, got)
		}
	}
	if got := x.recent(t, all[4].Changed.Add(time.Hour), 10); len(got) != 0 {
		t.Errorf("from an hour later on: %+v", got)
	}
}

func recentGoesOn(t *testing.T, x *fixture) {
	bodies, since, seen, got := x.talk(t, 7), time.Time{}, map[int64]bool{}, []scm.Comment{}
	limit := 3
	if x.recent(t, since, 10)[6].Changed.Sub(x.recent(t, since, 10)[0].Changed) < 7*time.Second {
		limit = 7 // a real clock: all comments are written within one second
	}
	for range 7 {
		part := x.recent(t, since, limit)
		if len(part) > limit {
			t.Fatalf("%d comments", len(part))
		}
		for _, one := range part {
			if !seen[one.ID] {
				seen[one.ID], got = true, append(got, one)
			}
		}
		since = part[len(part)-1].Changed
	}
	wantSaid(t, got, bodies...)
}

func recentMany(t *testing.T, x *fixture) {
	bodies := x.talk(t, 130)
	before, _ := x.World.Requests()
	wantSaid(t, x.recent(t, time.Time{}, 200), bodies...)
	if after, _ := x.World.Requests(); after-before > 8 {
		t.Errorf("%d requests for 130 comments", after-before)
	}
	wantSaid(t, x.recent(t, time.Time{}, 110), bodies[:110]...)
}

// A forge that does not list edits lists the comment at its original position.
func recentEdited(t *testing.T, x *fixture) {
	bodies := x.talk(t, 3)
	before := x.recent(t, time.Time{}, 10)
	x.People.Reword(t, before[0], "/promoter promote prod")
	after := x.recent(t, time.Time{}, 10)
	target := slices.IndexFunc(after, func(one scm.Comment) bool { return one.ID == before[0].ID })
	if len(after) != 3 || target < 0 || !after[target].Edited || after[target].Body != "/promoter promote prod" {
		t.Fatalf("comments: %+v", after)
	}
	if !after[target].Changed.After(after[target].Created) {
		wantSaid(t, after, "/promoter promote prod", bodies[1], bodies[2])
		return
	}
	wantSaid(t, after, bodies[1], bodies[2], "/promoter promote prod")
	if again := x.recent(t, after[target].Changed, 10); !slices.Contains(again, after[target]) {
		t.Errorf("since the edit: %+v", again)
	}
}

func (x *fixture) recent(t *testing.T, since time.Time, limit int) []scm.Comment {
	t.Helper()
	all, err := x.repo.Conversation().Recent(t.Context(), since, limit)
	fatal(t, "recent", err)
	return all
}

// wantSaid checks the bodies, in the order of their last change.
func wantSaid(t *testing.T, said []scm.Comment, want ...string) {
	t.Helper()
	var got []string
	for _, one := range said {
		got = append(got, one.Body)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("said: %q, want %q", got, want)
	}
	if !slices.IsSortedFunc(said, func(a, b scm.Comment) int { return a.Changed.Compare(b.Changed) }) {
		t.Errorf("not by their last change: %+v", said)
	}
}
