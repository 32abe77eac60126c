package github

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/command"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/outbound"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation holds the comments of a pull request.
type conversation struct{ repo *repository }

// issueComment is a comment in GitHub's form. App is the app that wrote it on behalf
// of a user, which the library omits.
type issueComment struct {
	gogithub.IssueComment

	App *struct {
		ID   int64  `json:"id"`
		Slug string `json:"slug"`
	} `json:"performed_via_github_app"`
}

// Comments lists all comments, except review comments on lines of the diff.
func (c conversation) Comments(ctx context.Context, number int) ([]scm.Comment, error) {
	comments, err := c.whole(ctx, number)
	return rest.CutComments(comments), err
}

// whole lists the comments of a pull request with their full texts.
func (c conversation) whole(ctx context.Context, number int) ([]scm.Comment, error) {
	comments, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]scm.Comment, *gogithub.Response, error) {
		found, resp, err := c.page(ctx, fmt.Sprintf("issues/%d/comments?%s", number, query(page)))
		if err != nil {
			return nil, resp, err
		}
		list := make([]scm.Comment, len(found))
		for i, comment := range found {
			list[i] = c.translate(comment, number)
		}
		return list, resp, c.settle(ctx, found, list)
	})
	return comments, explain(c.repo.noun("comments of pull request %d", number), err)
}

func (c conversation) page(ctx context.Context, path string) ([]*issueComment, *gogithub.Response, error) {
	return readPage[*issueComment](ctx, c.repo.forge, fmt.Sprintf("repos/%s/%s/%s", c.repo.owner, c.repo.name, path))
}

func (c conversation) translate(comment *issueComment, number int) scm.Comment {
	author := c.repo.forge.person(comment.GetUser())
	created := comment.GetCreatedAt().UTC()
	changed := comment.GetUpdatedAt().UTC()
	return scm.Comment{
		ID: comment.GetID(), Number: number, Author: author, Bot: author.Bot || c.byApp(comment, author), Body: comment.GetBody(),
		Created: created, Changed: outbound.Later(created, changed), Edited: changed.After(created),
	}
}

// byApp reports whether an App wrote a comment that does not act for users, maybe in the name of one.
func (c conversation) byApp(comment *issueComment, author identity.User) bool {
	robots := c.repo.forge.robots
	return comment.App != nil && !robots.IsTrusted(author.Login) && !robots.IsTrusted(comment.App.Slug+"[bot]")
}

// lateUpdate is how much later than its creation GitHub may date the last change of a
// comment that no user edited.
// https://github.com/palantir/policy-bot/pull/459
const lateUpdate = 10 * time.Second

// settledAfter is how long after its last change no edit of a comment has the same time.
const settledAfter = 3 * time.Second

// settle finds which comments were edited, where the times of the REST API do not tell:
// they can be later without an edit, and an edit within a second leaves them as they were,
// which matters in a command. Our own comments and those of other machines are none, so they
// are not queried. If the GraphQL API cannot be used, the times count.
func (c conversation) settle(ctx context.Context, found []*issueComment, comments []scm.Comment) error {
	unclear := map[string]int{} // index by node
	for i, one := range comments {
		late := one.Edited && one.Changed.Sub(one.Created) <= lateUpdate
		atOnce := !one.Edited && strings.Contains(one.Body, command.Prefix)
		if !late && !atOnce || one.Bot || found[i].GetNodeID() == "" || c.repo.info.Self.Same(one.Author) {
			continue
		}
		if edited, known := c.repo.forge.edits.Get(editOf{one.ID, one.Changed}); known {
			comments[i].Edited = edited
			continue
		}
		unclear[found[i].GetNodeID()] = i
	}
	if len(unclear) == 0 {
		return nil
	}
	edited, err := c.repo.forge.edited(ctx, slices.Sorted(maps.Keys(unclear)))
	switch fault.KindOf(explain("", err)) {
	case "":
	case fault.Temporary, fault.RateLimited:
		return err
	default:
		return nil
	}
	for id, was := range edited {
		if i, asked := unclear[id]; asked {
			comments[i].Edited = was
			if was || c.repo.forge.now().Sub(comments[i].Changed) > settledAfter { // an edit may still fall into the same second
				c.repo.forge.edits.Put(editOf{comments[i].ID, comments[i].Changed}, was, 1)
			}
		}
	}
	return nil
}

// edited queries which comments a user edited, by node. Those that it does not find are
// not in the result.
// https://docs.github.com/en/graphql/reference/objects#issuecomment
func (f *Forge) edited(ctx context.Context, nodes []string) (map[string]bool, error) {
	query := map[string]any{
		"query":     "query($ids:[ID!]!){nodes(ids:$ids){... on IssueComment{id lastEditedAt}}}",
		"variables": map[string]any{"ids": nodes},
	}
	var answer struct {
		Data struct {
			Nodes []struct {
				ID     string     `json:"id"`
				Edited *time.Time `json:"lastEditedAt"`
			} `json:"nodes"`
		} `json:"data"`
	}
	if err := f.post(ctx, f.graphql(), query, &answer); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, node := range answer.Data.Nodes {
		found[node.ID] = node.Edited != nil
	}
	return found, nil
}

// graphql returns the path of the GraphQL API, relative to that of the REST API.
// https://docs.github.com/en/enterprise-server@latest/graphql/guides/forming-calls-with-graphql#the-graphql-endpoint
func (f *Forge) graphql() string {
	if strings.HasSuffix(f.api.BaseURL.Path, "/api/v3/") {
		return "../graphql"
	}
	return "graphql"
}

// editOf is a comment up to the time of its last change.
type editOf struct {
	comment int64
	changed time.Time
}

// maxEdits bounds how many of them are cached.
const maxEdits = 1000

// Say creates, updates or leaves our comment. The marker is prepended to a text that
// does not contain it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	text = cutBody(text)
	comment := &gogithub.IssueComment{Body: &text}
	comments, err := c.whole(ctx, number)
	if err != nil {
		return err
	}
	target := slices.IndexFunc(comments, func(comment scm.Comment) bool {
		return c.repo.info.Self.Same(comment.Author) && strings.Contains(comment.Body, marker)
	})
	switch {
	case target < 0:
		_, _, err = c.repo.forge.api.Issues.CreateComment(ctx, c.repo.owner, c.repo.name, number, comment)
	case !rest.SameText(comments[target].Body, text):
		_, _, err = c.repo.forge.api.Issues.EditComment(ctx, c.repo.owner, c.repo.name, comments[target].ID, comment)
	}
	return explain(c.repo.noun("comment on pull request %d", number), err)
}

// Recent lists the comments of the whole repository. Each page starts at the last
// change of the previous one, because an edit moves a comment to the end of the list,
// and would shift the following pages.
// https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	noun := c.repo.noun("recent comments")
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	walk := recent{conversation: c, seen: map[int64]bool{}, from: rest.Since(since), page: 1}
	comments, err := rest.Pages(limit, func(rest.Page) ([]scm.Comment, int, error) { return walk.next(ctx) })
	return rest.CutComments(comments), explain(noun, err)
}

// recent is the position in a list of comments.
type recent struct {
	conversation conversation

	seen map[int64]bool
	from time.Time
	page int // of the comments since from
}

// next reads one page, and reports whether another one follows.
func (r *recent) next(ctx context.Context) (comments []scm.Comment, more int, err error) {
	found, resp, err := r.conversation.page(ctx, "issues/comments?"+r.query())
	if err != nil {
		return nil, 0, err
	}
	last, list := r.from, make([]scm.Comment, len(found))
	for i, one := range found {
		list[i] = r.conversation.translate(one, numberOf(one))
	}
	if err := r.conversation.settle(ctx, found, list); err != nil {
		return nil, 0, err
	}
	for _, comment := range list {
		last = outbound.Later(last, comment.Changed)
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

// React adds one reaction. GitHub returns the existing one if we added it before.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	name := rest.ReactionName(reaction)
	_, _, err := c.repo.forge.api.Reactions.CreateIssueCommentReaction(ctx, c.repo.owner, c.repo.name, comment.ID, name)
	return explain(c.repo.noun("reaction to comment %d of pull request %d", comment.ID, comment.Number), err)
}

// Reacted reads the reactions to a comment.
func (c conversation) Reacted(ctx context.Context, comment scm.Comment) (bool, error) {
	given, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.Reaction, *gogithub.Response, error) {
		return c.repo.forge.api.Reactions.ListIssueCommentReactions(ctx, c.repo.owner, c.repo.name, comment.ID, &page)
	})
	ours := func(one *gogithub.Reaction) bool {
		return slices.ContainsFunc(scm.Reactions(), func(r scm.Reaction) bool { return rest.ReactionName(r) == one.GetContent() }) &&
			c.repo.info.Self.Same(c.repo.forge.person(one.GetUser()))
	}
	return slices.ContainsFunc(given, ours),
		explain(c.repo.noun("reactions to comment %d of pull request %d", comment.ID, comment.Number), err)
}
