package comments

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"promoter/internal/command"
	"promoter/internal/lru"
)

// Parsed remembers which commands comments have, by their texts, of all repositories: a comment is listed by many
// reconciliations, and the ones that take longest to parse often have no command. It is safe for concurrent use.
type Parsed struct {
	read  func(comment string) (command.Command, bool)
	known *lru.Cache[[sha256.Size]byte, parsedComment]
}

// parsedComment is the command of a comment, if it is found.
type parsedComment struct {
	command command.Command
	found   bool
}

// parsedSize is the memory of a comment that is remembered, without the texts of its command, in bytes.
const parsedSize = 400

// NewParsed returns a memory of so many bytes that knows no comment.
func NewParsed(limit int64) *Parsed {
	return &Parsed{read: command.Read, known: lru.New[[sha256.Size]byte, parsedComment](limit)}
}

// maxParsed is how many comments are parsed in one reconciliation, if others are remembered. The slowest ones take less
// than 0.1 seconds each. The next reconciliation goes on after them.
const maxParsed = 100

// parser parses the comments of one reconciliation.
type parser struct {
	memory *Parsed // nil: nothing is remembered, and all are parsed
	parsed int
}

// command returns the command of a comment. It reports false if too many were parsed already.
func (p *parser) command(ctx context.Context, comment string) (found parsedComment, in bool, err error) {
	if !strings.Contains(comment, command.Prefix) {
		return parsedComment{}, true, nil
	}
	if ctx.Err() != nil {
		return parsedComment{}, false, fmt.Errorf("parse the comments: %w", context.Cause(ctx))
	}
	if p.memory == nil {
		found.command, found.found = command.Read(comment)
		return found, true, nil
	}
	digest := sha256.Sum256([]byte(comment))
	if known, kept := p.memory.known.Get(digest); kept {
		return known, true, nil
	}
	if p.parsed == maxParsed {
		return parsedComment{}, false, nil
	}
	p.parsed++
	found.command, found.found = p.memory.read(comment)
	p.memory.known.Put(digest, found, int64(parsedSize+len(found.command.Reason)+len(found.command.Environment)))
	return found, true, nil
}
