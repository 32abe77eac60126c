package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"promoter/internal/command"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// Permissions says what people may tell promoter in comments.
type Permissions interface {
	// Allowed asks, live, whether a person may give a command about all of the places.
	// Without places it asks whether the person may give any about the repository.
	// An error is neither yes nor no.
	Allowed(ctx context.Context, person identity.User, verb verb.Verb, places ...promotion.Target) (Permission, error)
}

// Permission is the answer to whether somebody may.
type Permission struct {
	Allowed bool
	Reason  string // not, in words for that person
}

// Bounds of what is heard in one pass. A repository in which more is said than
// fits into some readings remembers how far it was read.
const (
	commandsAtOnce = 20
	commentsAtOnce = 300 // that are asked for at once
	commentPages   = 10
	// unlisted is how long a comment may be written and not be listed yet.
	unlisted = time.Hour
)

// said is a comment with its command.
type said struct {
	scm.Comment
	command command.Command
}

// lookAtComments hears the commands in comments that nobody heard before. What they
// decide is remembered together with that they were heard. A command about which
// something could not be asked is heard by a later pass.
func (v *view) lookAtComments(ctx context.Context) error {
	from, knows := v.observed.State.HearsFrom(v.now)
	if v.Permissions == nil || v.DryRun || !knows || !v.Repository.Features().Comments {
		return nil
	}
	comments, err := v.recent(ctx, from)
	if err != nil {
		return v.deaf(ctx, "comments", fmt.Errorf("list the comments: %w", err))
	}
	left, err := v.hearAll(ctx, v.commandsIn(comments))
	if n := len(comments); err == nil && !left && n >= commentsAtOnce {
		v.remember(state.PassOver(comments[n-1].Changed.Add(-unlisted)))
	}
	return err
}

// hearAll hears commands, and says whether some are left to a later pass. Where one
// could not be heard, the later ones of the same person wait with it: they keep their
// order, and nobody else waits for them.
func (v *view) hearAll(ctx context.Context, commands []said) (left bool, err error) {
	waits, tried := map[string]bool{}, 0
	for _, one := range commands {
		login := strings.ToLower(one.Author.Login)
		if waits[login] || tried == commandsAtOnce {
			left = true
			continue
		}
		tried++
		if err := v.hear(ctx, one); err != nil {
			left, waits[login] = true, true
			if err := v.deaf(ctx, fmt.Sprintf("comment on #%d", one.Number), err); err != nil {
				return true, err
			}
		}
	}
	return left, nil
}

// deaf notes what kept a comment from being heard. The rest of the pass goes on,
// unless the forge wants to be left alone.
func (v *view) deaf(ctx context.Context, what string, err error) error {
	if ended := v.ends(ctx, err); ended != nil {
		return ended
	}
	v.trouble(what, err)
	return nil
}

// recent lists what was said since a time, the longest unchanged first.
func (v *view) recent(ctx context.Context, since time.Time) ([]scm.Comment, error) {
	var all []scm.Comment
	seen := map[int64]bool{}
	for range commentPages {
		page, err := v.Repository.Conversation().Recent(ctx, since, commentsAtOnce)
		if err != nil {
			return nil, err
		}
		for _, comment := range page {
			if !seen[comment.ID] {
				all = append(all, comment)
			}
			seen[comment.ID] = true
		}
		if len(page) < commentsAtOnce || !page[len(page)-1].Changed.After(since) {
			break
		}
		since = page[len(page)-1].Changed
	}
	return all, nil
}

// commandsIn returns the comments of people that hold a command which nobody heard
// yet, in the order in which they were written. What was edited is not what its
// author sent, or not what others answered to.
func (v *view) commandsIn(comments []scm.Comment) []said {
	self := v.Repository.Info().Self
	var commands []said
	for _, c := range comments {
		machine := c.Bot || c.Author.Bot || c.Author.Login == "" || c.Author.Same(self)
		if machine || c.Edited || !v.observed.State.Hears(c.ID, c.Created, v.now) {
			continue
		}
		if command, found := command.Read(c.Body); found {
			commands = append(commands, said{Comment: c, command: command})
		}
	}
	slices.SortFunc(commands, func(a, b said) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return commands
}

// hear judges one command and remembers what came of it.
func (v *view) hear(ctx context.Context, s said) error {
	verdict, err := v.judge(ctx, s)
	unknown := fault.KindOf(err) == fault.Unauthorized
	if unknown { // that does not pass by itself, and would be told in every pass
		v.trouble(fmt.Sprintf("comment on #%d", s.Number), err)
		verdict, err = refusal("promoter's account may not ask whether you may: its log says more"), nil
	}
	if err != nil {
		return err
	}
	if _, err := v.observed.State.Apply(verdict.changes...); err != nil {
		verdict = refusal(err.Error())
	}
	v.Log.InfoContext(ctx, "command", slog.String("verb", string(s.command.Verb)), slog.Int("pull_request", s.Number),
		slog.Int64("comment", s.ID), slog.String("by", s.Author.Login), slog.String("outcome", string(verdict.reaction)))
	owed := state.Answer{
		Number: s.Number, Login: s.Author.Login, Command: s.command.String(),
		Reaction: string(verdict.reaction), Words: verdict.words,
	}
	if s.command.Problem != "" || unknown { // who may be a stranger is not quoted
		owed.Command = ""
	}
	v.remember(verdict.changes...)
	v.remember(state.Hear(v.now, state.ProcessedComment{ID: s.ID, At: s.Created, Owed: &owed}))
	if verdict.subject != "" {
		v.memory.subjects = append(v.memory.subjects, fmt.Sprintf("%s\n\nAsked for by %s in a comment on pull request %d.", verdict.subject, s.Author.Login, s.Number))
	}
	return nil
}
