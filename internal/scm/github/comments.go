package github

import (
	"context"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// conversation is the talk below a pull request.
type conversation struct{ *repository }

// Comments lists them all. Comments on lines of the diff are not among them.
func (c conversation) Comments(ctx context.Context, number int) ([]scm.Comment, error) {
	comments, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]scm.Comment, *gogithub.Response, error) {
		found, resp, err := c.forge.api.Issues.ListComments(ctx, c.owner, c.name, number, &gogithub.IssueListCommentsOptions{ListOptions: page})
		return c.translate(found), resp, err
	})
	return comments, explain(c.noun("comments of pull request %d", number), err)
}

func (c conversation) translate(found []*gogithub.IssueComment) []scm.Comment {
	comments := make([]scm.Comment, len(found))
	for i, comment := range found {
		comments[i] = scm.Comment{
			ID: comment.GetID(), Author: c.forge.person(comment.GetUser()), Body: comment.GetBody(),
			Created: comment.GetCreatedAt().UTC(), Edited: comment.GetUpdatedAt().After(comment.GetCreatedAt().Time),
		}
	}
	return comments
}

// Say writes, edits or leaves our comment. The marker is put before a text that
// does not hold it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	text = cutBody(text)
	comment := &gogithub.IssueComment{Body: &text}
	comments, err := c.Comments(ctx, number)
	if err != nil {
		return err
	}
	place := slices.IndexFunc(comments, func(said scm.Comment) bool {
		return c.info.Self.Same(said.Author) && strings.Contains(said.Body, marker)
	})
	switch {
	case place < 0:
		_, _, err = c.forge.api.Issues.CreateComment(ctx, c.owner, c.name, number, comment)
	case !rest.SameText(comments[place].Body, text):
		_, _, err = c.forge.api.Issues.EditComment(ctx, c.owner, c.name, comments[place].ID, comment)
	}
	return explain(c.noun("comment on pull request %d", number), err)
}
