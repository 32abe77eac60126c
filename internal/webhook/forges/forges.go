// Package forges decodes the webhooks of forges: pushes, pull requests, comments, and published
// packages. Each sender has one file, named after its kind.
package forges

import "promoter/internal/command"

// newComment is a comment in the event of its creation, with the text that its author sent.
type newComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
}

// digest returns that of the command; empty for an event without the text.
func (c newComment) digest() string {
	if c.Body == "" {
		return ""
	}
	return command.Digest(c.Body)
}
