package gitlab

import (
	"context"
	"slices"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation is the talk below a merge request.
type conversation struct{ *repository }

// notes lists all notes of a merge request, oldest first, also those that GitLab
// writes itself.
func (r *repository) notes(ctx context.Context, number int) ([]*gogitlab.Note, error) {
	return pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.Note, *gogitlab.Response, error) {
		options := &gogitlab.ListMergeRequestNotesOptions{
			ListOptions: page, OrderBy: gogitlab.Ptr("created_at"), Sort: gogitlab.Ptr("asc"),
		}
		return r.forge.api.Notes.ListMergeRequestNotes(r.id, number, options, in(ctx))
	})
}

// Comments lists what people wrote. Notes on lines of the changes are not among
// them, and neither are GitLab's own.
func (c conversation) Comments(ctx context.Context, number int) ([]scm.Comment, error) {
	comments, err := c.whole(ctx, number)
	return rest.CutComments(comments), err
}

// whole lists the comments of a merge request with their whole texts.
func (c conversation) whole(ctx context.Context, number int) ([]scm.Comment, error) {
	if c.withoutPulls {
		return nil, nil
	}
	notes, err := c.notes(ctx, number)
	if err != nil {
		return nil, explain(c.noun("notes on merge request %d", number), err)
	}
	var comments []scm.Comment
	for _, note := range notes {
		if note.System || note.Type == gogitlab.DiffNote {
			continue
		}
		comments = append(comments, c.translate(note, number))
	}
	return comments, nil
}

// translate makes a comment of a note. Its last change is when GitLab lists it: an
// edit is no event. A reaction counts as an edit, because the API does not tell the
// two apart.
func (c conversation) translate(note *gogitlab.Note, number int) scm.Comment {
	author, created := c.forge.person(note.Author.Username), timeOf(note.CreatedAt)
	return scm.Comment{
		ID: int64(note.ID), Number: number, Author: author, Bot: author.Bot, Body: note.Body,
		Created: created, Changed: created, Edited: timeOf(note.UpdatedAt).After(created),
	}
}

// Say writes, edits or leaves our note. The marker is put before a text that does
// not hold it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if c.withoutPulls {
		return nil
	}
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	text = bodyOf(text)
	comments, err := c.whole(ctx, number)
	if err != nil {
		return err
	}
	place := slices.IndexFunc(comments, func(said scm.Comment) bool {
		return c.info.Self.Same(said.Author) && strings.Contains(said.Body, marker)
	})
	switch {
	case place < 0:
		_, _, err = c.forge.api.Notes.CreateMergeRequestNote(c.id, number, &gogitlab.CreateMergeRequestNoteOptions{Body: &text}, in(ctx))
	case !rest.SameText(comments[place].Body, text):
		_, _, err = c.forge.api.Notes.UpdateMergeRequestNote(c.id, number, int(comments[place].ID), &gogitlab.UpdateMergeRequestNoteOptions{Body: &text}, in(ctx))
	}
	return c.denied(ctx, explain(c.noun("note on merge request %d", number), err))
}
