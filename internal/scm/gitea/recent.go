package gitea

import (
	"context"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Recent lists the comments of the whole repository. Gitea sorts them by creation
// time, whatever since refers to, so all are read before they are truncated.
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	noun := c.noun("recent comments")
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	if c.withoutPull {
		return nil, nil
	}
	since = rest.Since(since)
	comments, err := pages(rest.Everything, func(page sdk.ListOptions) ([]*sdk.Comment, *sdk.Response, error) {
		return c.forge.api(ctx).ListRepoIssueComments(c.owner, c.name, sdk.ListIssueCommentOptions{ListOptions: page, Since: since})
	}, func(comment *sdk.Comment) (scm.Comment, bool) {
		told := c.translate(comment, rest.NumberIn(comment.PRURL))
		return told, told.Number != 0 && !told.Changed.Before(since) // the others are on issues
	})
	comments = rest.ByChange(comments)
	return rest.CutComments(comments[:min(limit, len(comments))]), explain(noun, err)
}

// reactionOf returns the name of one of our reactions. A server may allow others; it
// rejects those that its [ui] REACTIONS omits.
func reactionOf(reaction scm.Reaction) string {
	return map[scm.Reaction]string{scm.ReactionDone: "+1", scm.ReactionRefused: "-1", scm.ReactionUnclear: "confused"}[reaction]
}

// React adds one reaction. Gitea returns the existing one if we added it before.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	if c.withoutPull {
		return nil
	}
	_, resp, err := c.forge.api(ctx).PostIssueCommentReaction(c.owner, c.name, comment.ID, reactionOf(reaction))
	return explain(c.noun("reaction to comment %d of pull request %d", comment.ID, comment.Number), answered(resp, err))
}
