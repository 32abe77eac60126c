// Package forges decodes the webhooks of forges: pushes, pull requests, comments, and published
// packages. Each sender has one file, named after its kind.
package forges

import (
	"promoter/internal/command"
	"promoter/internal/event"
)

// newComment is a comment in the event of its creation, with the text that its author sent.
type newComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
}

// event returns the event of a comment on a pull request. It has the digest of the command if the
// sender sent the text.
func (c newComment) event(number int) event.Event {
	e := event.Event{Kind: event.KindComment, Number: number, Comment: c.ID}
	if c.Body != "" {
		e.Digest = command.Digest(c.Body)
	}
	return e
}
