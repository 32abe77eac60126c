package github

import (
	"context"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
)

// conversation is the talk below a pull request.
type conversation struct{ *repository }

// Comments lists them all. Comments on lines of the diff are not among them.
func (c conversation) Comments(ctx context.Context, number int) ([]scm.Comment, error) {
	found, err := c.list(ctx, number)
	if err != nil {
		return nil, explain(c.noun("comments of pull request %d", number), err)
	}
	comments := make([]scm.Comment, len(found))
	for i, comment := range found {
		comments[i] = scm.Comment{
			ID: comment.GetID(), Author: c.forge.person(comment.GetUser()), Body: comment.GetBody(),
			Created: comment.GetCreatedAt().UTC(), Edited: comment.GetUpdatedAt().After(comment.GetCreatedAt().Time),
		}
	}
	return comments, nil
}

func (c conversation) list(ctx context.Context, number int) ([]*gogithub.IssueComment, error) {
	return pages(0, func(page gogithub.ListOptions) ([]*gogithub.IssueComment, *gogithub.Response, error) {
		return c.forge.api.Issues.ListComments(ctx, c.owner, c.name, number, &gogithub.IssueListCommentsOptions{ListOptions: page})
	})
}

// Say writes, edits or leaves our comment. The marker is put before a text that
// does not hold it.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	if !strings.Contains(text, marker) {
		text = marker + "\n" + text
	}
	comment := &gogithub.IssueComment{Body: gogithub.String(cutBody(text))}
	noun := c.noun("comment on pull request %d", number)
	found, err := c.list(ctx, number)
	if err != nil {
		return explain(noun, err)
	}
	for _, said := range found {
		if !c.info.Self.Same(c.forge.person(said.GetUser())) || !strings.Contains(said.GetBody(), marker) {
			continue
		}
		if sameText(said.GetBody(), comment.GetBody()) {
			return nil
		}
		_, _, err := c.forge.api.Issues.EditComment(ctx, c.owner, c.name, said.GetID(), comment)
		return explain(noun, err)
	}
	_, _, err = c.forge.api.Issues.CreateComment(ctx, c.owner, c.name, number, comment)
	return explain(noun, err)
}
