package github

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Recent lists the comments of the whole repository. Each page starts at the last
// change of the previous one, because an edit moves a comment to the end of the list,
// and would shift the following pages.
// https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	noun := c.noun("recent comments")
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	walk := recent{conversation: c, seen: map[int64]bool{}, from: rest.Since(since), page: 1}
	comments, err := rest.Pages(limit, func(rest.Page) ([]scm.Comment, int, error) { return walk.next(ctx) })
	return rest.CutComments(comments), explain(noun, err)
}

// recent is the position in a list of comments.
type recent struct {
	conversation

	seen map[int64]bool
	from time.Time
	page int // of the comments since from
}

// next reads one page, and reports whether another one follows.
func (r *recent) next(ctx context.Context) (comments []scm.Comment, more int, err error) {
	found, resp, err := r.comments(ctx, "issues/comments?"+r.query())
	if err != nil {
		return nil, 0, err
	}
	last := r.from
	for _, one := range found {
		comment := r.translate(one, numberOf(one))
		last = rest.Later(last, comment.Changed)
		if comment.Number != 0 && !r.seen[comment.ID] && !comment.Changed.Before(r.from) {
			r.seen[comment.ID], comments = true, append(comments, comment)
		}
	}
	if last.After(r.from) {
		r.from, r.page = last, 1
		return comments, min(resp.NextPage, 1), nil
	}
	r.page++
	return comments, min(resp.NextPage, 1), nil
}

// query starts one second earlier: GitHub documents "after", but implements "at or
// after".
func (r *recent) query() string {
	return url.Values{
		"sort": {"updated"}, "direction": {"asc"}, "since": {r.from.Add(-time.Second).Format(time.RFC3339)},
		"page": {strconv.Itoa(r.page)}, "per_page": {strconv.Itoa(rest.PerPage)},
	}.Encode()
}

// numberOf returns the number of the pull request of a comment, zero for a comment on
// an issue. Only the web URL distinguishes them.
func numberOf(comment *issueComment) int {
	if !strings.Contains(comment.GetHTMLURL(), "/pull/") {
		return 0
	}
	return rest.NumberIn(comment.GetIssueURL())
}

// reactionOf returns the name of one of our reactions.
// https://docs.github.com/en/rest/reactions/reactions#about-reactions
func reactionOf(reaction scm.Reaction) string {
	return map[scm.Reaction]string{scm.ReactionDone: "+1", scm.ReactionRefused: "-1", scm.ReactionUnclear: "confused"}[reaction]
}

// React adds one reaction. GitHub returns the existing one if we added it before.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	_, _, err := c.forge.api.Reactions.CreateIssueCommentReaction(ctx, c.owner, c.name, comment.ID, reactionOf(reaction))
	return explain(c.noun("reaction to comment %d of pull request %d", comment.ID, comment.Number), err)
}
