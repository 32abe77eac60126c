package gitea

import (
	"context"
	"slices"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/outbound"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation holds the comments of a pull request.
type conversation struct{ repo *repository }

// Comments lists all comments, except review comments on lines of the diff.
func (c conversation) Comments(ctx context.Context, number int) ([]scm.Comment, error) {
	comments, err := c.whole(ctx, number)
	return rest.CutComments(comments), err
}

// whole lists the comments of a pull request with their full texts.
func (c conversation) whole(ctx context.Context, number int) ([]scm.Comment, error) {
	comments, err := pages(0, func(page sdk.ListOptions) ([]*sdk.Comment, *sdk.Response, error) {
		return c.repo.api(ctx).ListIssueComments(c.repo.owner, c.repo.name, int64(number), sdk.ListIssueCommentOptions{ListOptions: page})
	}, func(comment *sdk.Comment) (scm.Comment, bool) { return c.translate(comment, number), true })
	return comments, explain(c.repo.noun("comments of pull request %d", number), err)
}

func (c conversation) translate(comment *sdk.Comment, number int) scm.Comment {
	author := c.repo.forge.person(comment.Poster)
	created := comment.Created.UTC()
	changed := comment.Updated.UTC()
	return scm.Comment{
		ID: comment.ID, Number: number, Author: author, Bot: author.Bot, Body: comment.Body,
		Created: created, Changed: outbound.Later(created, changed), Edited: changed.After(created),
	}
}

// Say creates, updates or leaves our comment. The marker is prepended to a text that
// does not contain it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	text = cutBody(text)
	comments, err := c.whole(ctx, number)
	if err != nil {
		return err
	}
	target := slices.IndexFunc(comments, func(comment scm.Comment) bool {
		return c.repo.info.Self.Same(comment.Author) && strings.Contains(comment.Body, marker)
	})
	var resp *sdk.Response
	switch {
	case target < 0:
		_, resp, err = c.repo.api(ctx).CreateIssueComment(c.repo.owner,
			c.repo.name, int64(number), sdk.CreateIssueCommentOption{Body: text})
	case !rest.SameText(comments[target].Body, text):
		_, resp, err = c.repo.api(ctx).EditIssueComment(c.repo.owner,
			c.repo.name, comments[target].ID, sdk.EditIssueCommentOption{Body: text})
	}
	return explain(c.repo.noun("comment on pull request %d", number), answered(resp, err))
}

// Recent lists the comments of the whole repository. Gitea sorts them by creation
// time, whatever since refers to, so all are read before they are truncated.
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	noun := c.repo.noun("recent comments")
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	since = rest.Since(since)
	comments, err := pages(rest.Everything, func(page sdk.ListOptions) ([]*sdk.Comment, *sdk.Response, error) {
		return c.repo.api(ctx).ListRepoIssueComments(c.repo.owner, c.repo.name,
			sdk.ListIssueCommentOptions{ListOptions: page, Since: since})
	}, func(comment *sdk.Comment) (scm.Comment, bool) {
		translated := c.translate(comment, rest.NumberIn(comment.PRURL))
		return translated, translated.Number != 0 && !translated.Changed.Before(since) // the others are on issues
	})
	comments = rest.ByChange(comments)
	return rest.CutComments(comments[:min(limit, len(comments))]), explain(noun, err)
}

// React adds one reaction. Gitea returns the existing one if we added it before, and rejects
// those that [ui] REACTIONS of the server omits.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	_, resp, err := c.repo.api(ctx).PostIssueCommentReaction(c.repo.owner, c.repo.name, comment.ID, rest.ReactionName(reaction))
	return explain(c.repo.noun("reaction to comment %d of pull request %d", comment.ID, comment.Number), answered(resp, err))
}

// Reacted reads the reactions to a comment.
func (c conversation) Reacted(ctx context.Context, comment scm.Comment) (bool, error) {
	given, resp, err := c.repo.api(ctx).GetIssueCommentReactions(c.repo.owner, c.repo.name, comment.ID)
	ours := func(one *sdk.Reaction) bool {
		return slices.ContainsFunc(scm.Reactions(), func(r scm.Reaction) bool { return rest.ReactionName(r) == one.Reaction }) &&
			c.repo.info.Self.Same(c.repo.forge.person(one.User))
	}
	noun := c.repo.noun("reactions to comment %d of pull request %d", comment.ID, comment.Number)
	return slices.ContainsFunc(given, ours), explain(noun, answered(resp, err))
}
