package gitea

import (
	"context"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Recent lists the comments of the whole repository. Gitea lists them by the time
// they were written, whatever since is about, so that all are read before they are
// cut.
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
		return told, told.Number != 0 && !told.Changed.Before(since) // the others stand on issues
	})
	comments = rest.ByChange(comments)
	return rest.CutComments(comments[:min(limit, len(comments))]), explain(noun, err)
}

// reactionOf is the name of one of ours. A server may allow others than these; it
// refuses those that its [ui] REACTIONS leaves out.
func reactionOf(reaction scm.Reaction) string {
	return map[scm.Reaction]string{scm.ReactionDone: "+1", scm.ReactionRefused: "-1", scm.ReactionUnclear: "confused"}[reaction]
}

// React adds one reaction. Gitea answers with the one that is there where we added
// it before.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	if c.withoutPull {
		return nil
	}
	_, resp, err := c.forge.api(ctx).PostIssueCommentReaction(c.owner, c.name, comment.ID, reactionOf(reaction))
	return explain(c.noun("reaction to comment %d of pull request %d", comment.ID, comment.Number), answered(resp, err))
}
