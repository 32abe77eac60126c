package gitlab

import (
	"context"
	"slices"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation holds the comments of a merge request.
type conversation struct{ *repository }

// notes lists all notes of a merge request, oldest first, including system notes.
func (r *repository) notes(ctx context.Context, number int) ([]*gogitlab.Note, error) {
	return pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.Note, *gogitlab.Response, error) {
		options := &gogitlab.ListMergeRequestNotesOptions{
			ListOptions: page, OrderBy: gogitlab.Ptr("created_at"), Sort: gogitlab.Ptr("asc"),
		}
		return r.forge.api.Notes.ListMergeRequestNotes(r.id, number, options, in(ctx))
	})
}

// written returns the notes by users, except those on lines of the diff.
func (r *repository) written(ctx context.Context, number int) ([]*gogitlab.Note, error) {
	notes, err := r.notes(ctx, number)
	return slices.DeleteFunc(notes, func(note *gogitlab.Note) bool { return !isComment(note) }), err
}

func isComment(note *gogitlab.Note) bool { return !note.System && note.Type != gogitlab.DiffNote }

// Comments lists comments by users, without those on lines of the diff and system
// notes.
func (c conversation) Comments(ctx context.Context, number int) ([]scm.Comment, error) {
	if c.withoutPulls {
		return nil, nil
	}
	var comments []scm.Comment
	notes, err := c.written(ctx, number)
	if err == nil {
		comments, err = c.translate(ctx, notes)
	}
	return comments, explain(c.noun("notes on merge request %d", number), err)
}

// translate converts notes to comments. Their last change is the time by which GitLab
// lists them: an edit is not an event. A reaction counts as an edit, because the API
// does not distinguish the two: it has no last_edited_at, and an emoji sets
// updated_at.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/models/award_emoji.rb
func (c conversation) translate(ctx context.Context, notes []*gogitlab.Note) ([]scm.Comment, error) {
	var comments []scm.Comment
	for _, note := range notes {
		author, created := c.forge.person(note.Author.Username), timeOf(note.CreatedAt)
		bot, err := c.forge.isBot(ctx, author, note.Author.ID)
		if err != nil {
			return nil, err
		}
		author.Bot = bot
		comments = append(comments, scm.Comment{
			ID: int64(note.ID), Number: note.NoteableIID, Author: author, Bot: bot, Body: rest.CutBytes(note.Body, scm.MaxComment),
			Created: created, Changed: created, Edited: timeOf(note.UpdatedAt).After(created),
		})
	}
	return comments, nil
}

// Say creates, updates or leaves our note. The marker is prepended to a text that
// does not contain it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if c.withoutPulls {
		return nil
	}
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	text = bodyOf(text)
	notes, err := c.written(ctx, number)
	if err != nil {
		return explain(c.noun("notes on merge request %d", number), err)
	}
	target := slices.IndexFunc(notes, func(note *gogitlab.Note) bool {
		return c.info.Self.Same(c.forge.person(note.Author.Username)) && strings.Contains(note.Body, marker)
	})
	switch {
	case target < 0:
		_, _, err = c.forge.api.Notes.CreateMergeRequestNote(c.id, number, &gogitlab.CreateMergeRequestNoteOptions{Body: &text}, in(ctx))
	case !rest.SameText(notes[target].Body, text):
		_, _, err = c.forge.api.Notes.UpdateMergeRequestNote(c.id, number, notes[target].ID, &gogitlab.UpdateMergeRequestNoteOptions{Body: &text}, in(ctx))
	}
	return c.denied(ctx, explain(c.noun("note on merge request %d", number), err))
}
