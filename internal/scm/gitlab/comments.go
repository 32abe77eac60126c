package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation holds the comments of a merge request.
type conversation struct{ repo *repository }

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
	var comments []scm.Comment
	notes, err := c.repo.written(ctx, number)
	if err == nil {
		comments, err = c.translate(ctx, notes)
	}
	return comments, explain(c.repo.noun("notes on merge request %d", number), err)
}

// translate converts notes to comments. Their last change is the time by which GitLab
// lists them: an edit is not an event. A reaction counts as an edit, because the API
// does not distinguish the two: it has no last_edited_at, and an emoji sets
// updated_at.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/models/award_emoji.rb
func (c conversation) translate(ctx context.Context, notes []*gogitlab.Note) ([]scm.Comment, error) {
	var comments []scm.Comment
	for _, note := range notes {
		author, created := c.repo.forge.person(note.Author.Username), rest.TimeOf(note.CreatedAt)
		bot, err := c.repo.forge.isBot(ctx, author, note.Author.ID)
		if err != nil {
			return nil, err
		}
		author.Bot = bot
		comments = append(comments, scm.Comment{
			ID: int64(note.ID), Number: note.NoteableIID, Author: author, Bot: bot, Body: rest.CutBytes(note.Body, scm.MaxComment),
			Created: created, Changed: created, Edited: rest.TimeOf(note.UpdatedAt).After(created),
		})
	}
	return comments, nil
}

// Say creates, updates or leaves our note. The marker is prepended to a text that
// does not contain it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	text = bodyOf(text)
	notes, err := c.repo.written(ctx, number)
	if err != nil {
		return explain(c.repo.noun("notes on merge request %d", number), err)
	}
	target := slices.IndexFunc(notes, func(note *gogitlab.Note) bool {
		return c.repo.info.Self.Same(c.repo.forge.person(note.Author.Username)) && strings.Contains(note.Body, marker)
	})
	switch {
	case target < 0:
		_, _, err = c.repo.forge.api.Notes.CreateMergeRequestNote(c.repo.id,
			number, &gogitlab.CreateMergeRequestNoteOptions{Body: &text}, in(ctx))
	case !rest.SameText(notes[target].Body, text):
		_, _, err = c.repo.forge.api.Notes.UpdateMergeRequestNote(c.repo.id, number,
			notes[target].ID, &gogitlab.UpdateMergeRequestNoteOptions{Body: &text}, in(ctx))
	}
	return c.repo.denied(ctx, explain(c.repo.noun("note on merge request %d", number), err))
}

// GitLab's limits in characters.
const (
	maxTitle  = 255
	maxBody   = 1_000_000 // of a note; a description allows 1,048,576
	maxLabel  = 255
	maxStatus = 255 // of a status: its name, description and URL
)

const cutWords = "\n\n… cut here: GitLab takes no longer text."

// draftPrefix marks a merge request as a draft, which is not a separate property.
// https://docs.gitlab.com/user/project/merge_requests/drafts/
const draftPrefix = "Draft: "

// draftWords matches the title prefixes by which GitLab recognizes a draft.
var draftWords = regexp.MustCompile(`(?i)^(draft:|\[draft\]|\(draft\))\s*`)

// titleOf returns the title to send to GitLab.
func titleOf(title string, draft bool) string {
	if draft {
		title = draftPrefix + title
	}
	return rest.Shorten(title, maxTitle, "…")
}

// bareTitle returns the title without the draft prefix.
func bareTitle(title string) string {
	return cmp.Or(draftWords.ReplaceAllString(title, ""), title)
}

// command matches the start of a quick action: GitLab executes lines like /close in
// comments of our account. Tame matches the same line after escaping.
// https://docs.gitlab.com/user/project/quick_actions/
var (
	command = regexp.MustCompile(`(?m)^/([a-zA-Z])`)
	tame    = regexp.MustCompile(`(?m)^\\/([a-zA-Z])`)
)

// bodyOf returns the text to send to GitLab, with quick actions escaped. GitLab
// removes carriage returns before it looks for commands, so they cannot hide one.
func bodyOf(text string) string {
	text = strings.ReplaceAll(text, "\r", "")
	return rest.Shorten(command.ReplaceAllString(text, `\/$1`), maxBody, cutWords)
}

// textOf is the inverse of bodyOf.
func textOf(body string) string { return tame.ReplaceAllString(body, `/$1`) }

// labelsOf returns labels in GitLab's form. A comma separates labels, so a label
// cannot contain one.
func labelsOf(names []string) []string {
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = strings.TrimSpace(rest.CutRunes(strings.ReplaceAll(name, ",", " "), maxLabel))
	}
	return labels
}

// event is a project event about a comment. The library omits the note's time of
// change and its kind.
type event struct {
	Note *gogitlab.Note `json:"note"`
}

// Recent lists the comments of the whole project from the events that created them.
// An edit is not an event: an edited comment is listed by its creation time.
// https://docs.gitlab.com/api/events/#list-all-visible-events-for-a-project
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	noun := c.repo.noun("recent notes")
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	since = rest.Since(since)
	comments, err := pages(limit, func(page gogitlab.ListOptions) ([]scm.Comment, *gogitlab.Response, error) {
		page.PerPage = rest.PerPage // most events of a day are before since
		events, resp, err := c.events(ctx, since, page)
		if err != nil {
			return nil, nil, err
		}
		list, err := c.translate(ctx, commentsIn(events, since))
		return list, resp, err
	})
	return rest.ByChange(comments), explain(noun, err)
}

// events reads one page, oldest first. A filter by target type would omit replies in
// a thread.
func (c conversation) events(ctx context.Context, since time.Time, page gogitlab.ListOptions) ([]event, *gogitlab.Response, error) {
	options := &gogitlab.ListProjectVisibleEventsOptions{
		ListOptions: page,
		Action:      gogitlab.Ptr(gogitlab.CommentedEventType),
		After:       gogitlab.Ptr(gogitlab.ISOTime(dayBefore(since))),
		Sort:        gogitlab.Ptr("asc"),
	}
	req, err := c.repo.forge.api.NewRequest(http.MethodGet,
		fmt.Sprintf("projects/%d/events", c.repo.id), options, []gogitlab.RequestOptionFunc{in(ctx)})
	if err != nil {
		return nil, nil, err
	}
	var found []event
	resp, err := c.repo.forge.api.Do(req, &found)
	return found, resp, err
}

// dayBefore returns the last full day before a time in any server time zone: events
// are listed from the end of a day, in the server's time zone, which is at most 12
// hours behind UTC.
func dayBefore(at time.Time) time.Time { return at.UTC().Add(-13*time.Hour).AddDate(0, 0, -1) }

// commentsIn returns the comments on merge requests among events.
func commentsIn(events []event, since time.Time) []*gogitlab.Note {
	var notes []*gogitlab.Note
	for _, one := range events {
		note := one.Note
		if note != nil && isComment(note) && note.NoteableType == "MergeRequest" &&
			note.NoteableIID != 0 && !rest.TimeOf(note.CreatedAt).Before(since) {
			notes = append(notes, note)
		}
	}
	return notes
}

// emojiOf returns the name of one of our reactions.
func emojiOf(reaction scm.Reaction) string {
	return map[scm.Reaction]string{
		scm.ReactionDone:    "thumbsup",
		scm.ReactionRefused: "thumbsdown",
		scm.ReactionUnclear: "confused",
	}[reaction]
}

// React awards one emoji. GitLab returns the same error for an existing emoji as for
// a deleted note, so the emoji of the note are read to distinguish the two.
// https://docs.gitlab.com/api/emoji_reactions/#add-an-emoji-reaction-to-a-comment
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	name := emojiOf(reaction)
	_, _, err := c.repo.forge.api.AwardEmoji.CreateMergeRequestAwardEmojiOnNote(
		c.repo.id, comment.Number, int(comment.ID), &gogitlab.CreateAwardEmojiOptions{Name: name}, in(ctx))
	if wasNotFound(err) {
		if there, failed := c.awarded(ctx, comment, reaction); failed != nil || there {
			err = failed
		}
	}
	return c.repo.denied(ctx, explain(c.repo.noun("reaction to note %d on merge request %d", comment.ID, comment.Number), err))
}

// Reacted reads the emoji of a note.
func (c conversation) Reacted(ctx context.Context, comment scm.Comment) (bool, error) {
	there, err := c.awarded(ctx, comment, scm.Reactions()...)
	return there, c.repo.denied(ctx, explain(c.repo.noun("reactions to note %d on merge request %d", comment.ID, comment.Number), err))
}

// awarded reports whether a note has one of some emoji of ours.
func (c conversation) awarded(ctx context.Context, comment scm.Comment, reactions ...scm.Reaction) (bool, error) {
	given, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.AwardEmoji, *gogitlab.Response, error) {
		options := gogitlab.ListAwardEmojiOptions(page)
		return c.repo.forge.api.AwardEmoji.ListMergeRequestAwardEmojiOnNote(c.repo.id, comment.Number, int(comment.ID), &options, in(ctx))
	})
	ours := func(one *gogitlab.AwardEmoji) bool {
		return slices.ContainsFunc(reactions, func(r scm.Reaction) bool { return emojiOf(r) == one.Name }) &&
			c.repo.info.Self.Same(c.repo.forge.person(one.User.Username))
	}
	return slices.ContainsFunc(given, ours), err
}
