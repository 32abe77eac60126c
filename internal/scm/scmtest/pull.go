package scmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// opened tests PullRequests.Open and Create.
func opened() []condition {
	return []condition{
		{
			name: "Create opens what the draft says", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				head := x.push(t, "image: web:2\n")
				wanted := draft()
				wanted.Labels = []string{"prod", "promotion"}
				made, err := x.repo.PullRequests().Create(t.Context(), wanted)
				fatal(t, "create", err)
				for _, pull := range []scm.PullRequest{made, x.one(t)} {
					if pull.Title != wanted.Title || pull.Body != wanted.Body || pull.Base != Main || pull.State != scm.StateOpen || pull.Draft || pull.URL == "" {
						t.Errorf("opened %+v", pull)
					}
					if pull.Head.Branch != branch || pull.Head.Commit != head || !pull.Head.Own || pull.Number != made.Number || pull.Opened.IsZero() {
						t.Errorf("opened %+v", pull)
					}
					slices.Sort(pull.Labels)
					if !pull.Author.Same(x.repo.Info().Self) || !slices.Equal(pull.Labels, wanted.Labels) {
						t.Errorf("author %+v, labels %q", pull.Author, pull.Labels)
					}
				}
			},
			without: func(t *testing.T, x *fixture) {
				_, err := x.repo.PullRequests().Create(t.Context(), draft())
				wantKind(t, "create", err, fault.Invalid)
				x.none(t)
			},
		},
		{
			name: "Create opens drafts", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				x.push(t, "image: web:2\n")
				wanted := draft()
				wanted.AsDraft = true
				made, err := x.repo.PullRequests().Create(t.Context(), wanted)
				fatal(t, "create", err)
				if !made.Draft || !x.one(t).Draft {
					t.Errorf("opened %+v", made)
				}
			},
		},
		{
			name: "a second pull request is a conflict", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				x.propose(t)
				_, err := x.repo.PullRequests().Create(t.Context(), draft())
				wantKind(t, "create", err, fault.Conflict)
				x.one(t)
			},
		},
		{
			name: "a creation whose answer is lost is not doubled", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Lose} },
			run: func(t *testing.T, x *fixture) {
				x.push(t, "image: web:2\n")
				x.World.Lose(t)
				_, err := x.repo.PullRequests().Create(t.Context(), draft())
				wantKind(t, "create", err, "", fault.Temporary, fault.Conflict)
				x.one(t)
			},
		},
		{
			name: "Create of a branch that is not there is refused", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				_, err := x.repo.PullRequests().Create(t.Context(), draft())
				wantKind(t, "create", err, fault.NotFound, fault.Invalid, fault.Temporary) // GitHub refuses one that was just pushed with the same words
			},
		},
		{name: "Create leaves out the reviewers that the forge refuses", feature: pullRequests, run: reviewers},
		{name: "texts that are too long are cut", feature: pullRequests, run: tooLong},
		{
			name: "odd names are taken as they are", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				x.push(t, "image: web:2\n")
				wanted := draft()
				wanted.Title, wanted.Body, wanted.Labels = "`web` 1.0 → 2.0 <b>&amp;", "| a\\|b |\r\n%2F\u00a0é", []string{"größe: XL", "a,b/c"}
				_, err := x.repo.PullRequests().Create(t.Context(), wanted)
				fatal(t, "create", err)
				pull := x.one(t)
				slices.Sort(pull.Labels)
				if pull.Title != wanted.Title || !slices.Equal(pull.Labels, []string{x.label("a,b/c"), "größe: XL"}) {
					t.Errorf("opened %+v", pull)
				}
			},
		},
		{
			name: "the pull request of a fork is not from here", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Fork} },
			run: func(t *testing.T, x *fixture) {
				number := x.People.Fork(t, Eve, branch, Main)
				if pull := x.one(t); pull.Head.Own || pull.Head.Branch != branch || pull.Author.Login != Eve {
					t.Errorf("the fork's: %+v", pull)
				}
				if made := x.propose(t); made.Number == number || !made.Head.Own {
					t.Errorf("ours: %+v", made)
				}
				x.People.Close(t, Eve, number)
				if ended := x.ended(t, 5); len(ended) != 0 {
					t.Errorf("closed: %+v", ended)
				}
			},
		},
		{
			name: "the author is who opened it", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Open} },
			run: func(t *testing.T, x *fixture) {
				x.push(t, "image: web:2\n")
				x.People.Open(t, Ann, branch, Main, "mine")
				if pull := x.one(t); !pull.Author.Same(x.person(Ann)) || pull.Author.Bot || !pull.Head.Own {
					t.Errorf("opened %+v", pull)
				}
			},
		},
		{
			name: "the head is where the branch stands", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				x.propose(t)
				moved := x.Git.Commit(t, Commit{By: Ann, Branch: branch, Path: "a.yaml", Content: "image: web:3\n", Message: "Mine"})
				if pull := x.one(t); pull.Head.Commit != moved {
					t.Errorf("the head is %s, want %s", pull.Head.Commit, moved)
				}
			},
		},
	}
}

// label returns the forge's form of a label.
func (x *fixture) label(name string) string {
	if x.Label == nil {
		return name
	}
	return x.Label(name)
}

// reviewers requests a user who cannot review, one who can, and a team.
func reviewers(t *testing.T, x *fixture) {
	x.push(t, "image: web:2\n")
	wanted := draft()
	wanted.Reviewers = []string{"nobody-there", Ann, "team:" + Team, "team:acme/none", x.repo.Info().Self.Login}
	wanted.Assignees = []string{Ann, "nobody-there"}
	_, err := x.repo.PullRequests().Create(t.Context(), wanted)
	fatal(t, "create", err)
	x.one(t)
}

func tooLong(t *testing.T, x *fixture) {
	x.push(t, "image: web:2\n")
	wanted := draft()
	wanted.Title, wanted.Body = strings.Repeat("ä", 400), strings.Repeat("🙂\n", 70_000)
	wanted.Labels = []string{strings.Repeat("ö", 60)}
	made, err := x.repo.PullRequests().Create(t.Context(), wanted)
	fatal(t, "create", err)
	text := "again " + wanted.Body
	fatal(t, "edit", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Title: &wanted.Title, Body: &text}))
	pull := x.one(t)
	for _, told := range append([]string{pull.Title, pull.Body}, pull.Labels...) {
		if told == "" || !utf8.ValidString(told) || strings.ContainsRune(told, utf8.RuneError) {
			t.Errorf("cut to %.20q…", told)
		}
	}
	if !strings.HasPrefix(wanted.Title, pull.Title[:100]) || len(pull.Labels) != 1 {
		t.Errorf("title %.40q…, %d labels", pull.Title, len(pull.Labels))
	}
}

// edited tests PullRequests.Edit.
func edited() []condition {
	return []condition{
		{
			name: "Edit changes what is set and nothing else", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				title, body := "Another", "text"
				pulls := x.repo.PullRequests()
				fatal(t, "edit", pulls.Edit(t.Context(), made.Number, scm.Edit{Title: &title}))
				if pull := x.one(t); pull.Title != title || pull.Body != made.Body || pull.Base != Main {
					t.Errorf("after the title: %+v", pull)
				}
				fatal(t, "edit", pulls.Edit(t.Context(), made.Number, scm.Edit{Body: &body}))
				if pull := x.one(t); pull.Title != title || pull.Body != body {
					t.Errorf("after the body: %+v", pull)
				}
				fatal(t, "edit", pulls.Edit(t.Context(), made.Number, scm.Edit{Body: new(string)}))
				if pull := x.one(t); pull.Title != title || pull.Body != "" {
					t.Errorf("without a body: %+v", pull)
				}
			},
			without: func(t *testing.T, x *fixture) {
				wantKind(t, "edit", x.repo.PullRequests().Edit(t.Context(), 1, scm.Edit{}), fault.NotFound)
			},
		},
		{
			name: "Edit of nothing asks nothing", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.World.Requests} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				before, _ := x.World.Requests()
				fatal(t, "edit", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{}))
				if after, _ := x.World.Requests(); after != before {
					t.Errorf("%d requests", after-before)
				}
			},
		},
		{
			name: "Edit keeps the labels of people", feature: pullRequests,
			hooks: func(b Bench) []any { return []any{b.People.Label, b.People.Retitle} },
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.People.Label(t, Ann, made.Number, "mine")
				x.People.Retitle(t, Ann, made.Number, "My title")
				fatal(t, "edit", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{AddLabels: []string{"prod"}}))
				pull := x.one(t)
				slices.Sort(pull.Labels)
				if pull.Title != "My title" || !slices.Equal(pull.Labels, []string{"mine", "prod"}) {
					t.Errorf("after the label: %+v", pull)
				}
			},
		},
		{
			name: "Edit moves to another base", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				x.Git.Commit(t, Commit{By: Ann, Branch: "next", Path: "n.yaml", Content: "n: 1\n", Message: "Next"})
				base := "next"
				fatal(t, "edit", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Base: &base}))
				if pull := x.one(t); pull.Base != base || pull.Number != made.Number {
					t.Errorf("after the base: %+v", pull)
				}
			},
		},
		{
			name: "Edit closes and opens again", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				made := x.propose(t)
				yes, no := true, false
				fatal(t, "close", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Closed: &yes}))
				x.none(t)
				fatal(t, "close again", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Closed: &yes}))
				fatal(t, "open again", x.repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Closed: &no}))
				if pull := x.one(t); pull.Number != made.Number {
					t.Errorf("opened %+v", pull)
				}
			},
		},
		{
			name: "Edit of one that is not there is not found", feature: pullRequests,
			run: func(t *testing.T, x *fixture) {
				title := fmt.Sprintf("of %s", branch)
				wantKind(t, "edit", x.repo.PullRequests().Edit(t.Context(), 4711, scm.Edit{Title: &title}), fault.NotFound)
			},
		},
	}
}
