package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation holds the comments of a pull request.
type conversation struct{ *repository }

// issueComment is a comment in GitHub's form. App is the app that wrote it on behalf
// of a user, which the library omits.
type issueComment struct {
	gogithub.IssueComment

	App *struct {
		ID int64 `json:"id"`
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
		found, resp, err := c.comments(ctx, fmt.Sprintf("issues/%d/comments?%s", number, query(page)))
		list := make([]scm.Comment, len(found))
		for i, comment := range found {
			list[i] = c.translate(comment, number)
		}
		return list, resp, err
	})
	return comments, explain(c.noun("comments of pull request %d", number), err)
}

// comments reads one page.
func (c conversation) comments(ctx context.Context, path string) ([]*issueComment, *gogithub.Response, error) {
	request, err := c.forge.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", c.owner, c.name, path), nil)
	if err != nil {
		return nil, nil, err
	}
	var found []*issueComment
	resp, err := c.forge.api.Do(ctx, request, &found)
	return found, resp, err
}

func (c conversation) translate(comment *issueComment, number int) scm.Comment {
	author, created, changed := c.forge.person(comment.GetUser()), comment.GetCreatedAt().UTC(), comment.GetUpdatedAt().UTC()
	return scm.Comment{
		ID: comment.GetID(), Number: number, Author: author, Bot: author.Bot || comment.App != nil, Body: comment.GetBody(),
		Created: created, Changed: rest.Later(created, changed), Edited: changed.After(created),
	}
}

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
	target := slices.IndexFunc(comments, func(said scm.Comment) bool {
		return c.info.Self.Same(said.Author) && strings.Contains(said.Body, marker)
	})
	switch {
	case target < 0:
		_, _, err = c.forge.api.Issues.CreateComment(ctx, c.owner, c.name, number, comment)
	case !rest.SameText(comments[target].Body, text):
		_, _, err = c.forge.api.Issues.EditComment(ctx, c.owner, c.name, comments[target].ID, comment)
	}
	return explain(c.noun("comment on pull request %d", number), err)
}
