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

// event is one of a project about a comment. The library leaves out of the note
// when it was changed, and of which kind it is.
type event struct {
	Note *gogitlab.Note `json:"note"`
}

// Recent lists the comments of the whole project by the events of writing them. To
// edit a comment is no event: an edited one is listed by when it was written.
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
		page.PerPage = rest.PerPage // most of a day are before since
		events, resp, err := c.events(ctx, since, page)
		if err != nil {
			return nil, nil, err
		}
		list, err := c.translate(ctx, said(events, since))
		return list, resp, err
	})
	return rest.ByChange(comments), explain(noun, err)
}

// events reads one page, oldest first. A filter by the type of the target would
// leave out answers within a thread.
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

// dayBefore is the last whole day before a time wherever the server's clock is:
// events are listed from the end of a day on, in the server's time zone, which is
// at most 12 hours behind ours.
func dayBefore(at time.Time) time.Time { return at.UTC().Add(-13*time.Hour).AddDate(0, 0, -1) }

// said are the comments on merge requests among events.
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

// emojiOf is the name of one of our reactions.
func emojiOf(reaction scm.Reaction) string {
	return map[scm.Reaction]string{scm.ReactionDone: "thumbsup", scm.ReactionRefused: "thumbsdown", scm.ReactionUnclear: "confused"}[reaction]
}

// React awards one emoji. GitLab answers about one that is there already as about a
// note that is gone, and the emoji of a note tell which it is.
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

// awarded says whether an emoji of ours is on a note.
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
