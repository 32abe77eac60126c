package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// event is a project event about a comment. The library omits the note's time of
// change and its kind.
type event struct {
	Note *gogitlab.Note `json:"note"`
}

// Recent lists the comments of the whole project from the events that created them.
// An edit is not an event: an edited comment is listed by its creation time.
// https://docs.gitlab.com/api/events/#list-all-visible-events-for-a-project
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	noun := c.noun("recent notes")
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	if c.withoutPulls {
		return nil, nil
	}
	since = rest.Since(since)
	comments, err := pages(limit, func(page gogitlab.ListOptions) ([]scm.Comment, *gogitlab.Response, error) {
		page.PerPage = rest.PerPage // most events of a day are before since
		events, resp, err := c.events(ctx, since, page)
		if err != nil {
			return nil, nil, err
		}
		list, err := c.translate(ctx, said(events, since))
		return list, resp, err
	})
	return rest.ByChange(comments), explain(noun, err)
}

// events reads one page, oldest first. A filter by target type would omit replies in
// a thread.
func (c conversation) events(ctx context.Context, since time.Time, page gogitlab.ListOptions) (found []event, resp *gogitlab.Response, err error) {
	action, after, sort := gogitlab.CommentedEventType, gogitlab.ISOTime(dayBefore(since)), "asc"
	options := &gogitlab.ListProjectVisibleEventsOptions{ListOptions: page, Action: &action, After: &after, Sort: &sort}
	req, err := c.forge.api.NewRequest(http.MethodGet, fmt.Sprintf("projects/%d/events", c.id), options, []gogitlab.RequestOptionFunc{in(ctx)})
	if err != nil {
		return nil, nil, err
	}
	resp, err = c.forge.api.Do(req, &found)
	return found, resp, err
}

// dayBefore returns the last full day before a time in any server time zone: events
// are listed from the end of a day, in the server's time zone, which is at most 12
// hours behind UTC.
func dayBefore(at time.Time) time.Time { return at.UTC().Add(-13*time.Hour).AddDate(0, 0, -1) }

// said returns the comments on merge requests among events.
func said(events []event, since time.Time) []*gogitlab.Note {
	var notes []*gogitlab.Note
	for _, one := range events {
		note := one.Note
		if note != nil && isComment(note) && note.NoteableType == "MergeRequest" && note.NoteableIID != 0 && !timeOf(note.CreatedAt).Before(since) {
			notes = append(notes, note)
		}
	}
	return notes
}

// emojiOf returns the name of one of our reactions.
func emojiOf(reaction scm.Reaction) string {
	return map[scm.Reaction]string{scm.ReactionDone: "thumbsup", scm.ReactionRefused: "thumbsdown", scm.ReactionUnclear: "confused"}[reaction]
}

// React awards one emoji. GitLab returns the same error for an existing emoji as for
// a deleted note, so the emoji of the note are read to distinguish the two.
// https://docs.gitlab.com/api/emoji_reactions/#add-an-emoji-reaction-to-a-comment
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	if c.withoutPulls {
		return nil
	}
	name := emojiOf(reaction)
	_, _, err := c.forge.api.AwardEmoji.CreateMergeRequestAwardEmojiOnNote(
		c.id, comment.Number, int(comment.ID), &gogitlab.CreateAwardEmojiOptions{Name: name}, in(ctx))
	if wasNotFound(err) {
		if there, failed := c.awarded(ctx, comment, name); failed != nil || there {
			err = failed
		}
	}
	return c.denied(ctx, explain(c.noun("reaction to note %d on merge request %d", comment.ID, comment.Number), err))
}

// awarded reports whether a note has an emoji of ours.
func (c conversation) awarded(ctx context.Context, comment scm.Comment, name string) (bool, error) {
	given, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.AwardEmoji, *gogitlab.Response, error) {
		options := gogitlab.ListAwardEmojiOptions(page)
		return c.forge.api.AwardEmoji.ListMergeRequestAwardEmojiOnNote(c.id, comment.Number, int(comment.ID), &options, in(ctx))
	})
	ours := func(one *gogitlab.AwardEmoji) bool {
		return one.Name == name && c.info.Self.Same(c.forge.person(one.User.Username))
	}
	return slices.ContainsFunc(given, ours), err
}
