package state

import (
	"slices"
	"time"
)

// CommentWindow is how old a comment may be to be processed. An older command that was
// not processed is ignored.
const CommentWindow = 7 * 24 * time.Hour

const (
	// maxProcessed is how many comments of one repository are remembered.
	maxProcessed = 500
	// MaxOutsiders is how many of them may be by users without any permission, so that
	// these cannot displace the others.
	MaxOutsiders = 100
)

// ProcessedComment is a comment whose command was executed, refused, or not understood,
// so that it is processed once. It is in the record of the repository only.
type ProcessedComment struct {
	ID       int64     `json:"id"`
	At       time.Time `json:"at"`                 // it was written
	Outsider bool      `json:"outsider,omitempty"` // its author had no permission at all
	Reply    *Reply    `json:"reply,omitempty"`    // that is still to be sent; nil: none
}

// Reply is a reply to a comment.
type Reply struct {
	Number   int    `json:"number"` // of the pull request
	Login    string `json:"login"`
	Command  string `json:"command,omitempty"` // as it was understood; empty: it was not
	Reaction string `json:"reaction"`
	Message  string `json:"message,omitempty"`
}

// repositoryTarget is the target whose record lists the processed comments.
var repositoryTarget = Target{All, All}

// MarkProcessed records that comments were processed. It is written together with what
// they decided.
func MarkProcessed(now time.Time, comments ...ProcessedComment) Change {
	return at(repositoryTarget, func(r *Record) {
		r.dropComments(commentsSince(now))
		for _, one := range comments {
			if !slices.ContainsFunc(r.ProcessedComments, func(c ProcessedComment) bool { return c.ID == one.ID }) {
				r.ProcessedComments = append(r.ProcessedComments, one)
			}
		}
	})
}

// MarkReplied records that a reply to a comment was sent.
func MarkReplied(id int64) Change {
	return at(repositoryTarget, func(r *Record) {
		for i := range r.ProcessedComments {
			if r.ProcessedComments[i].ID == id {
				r.ProcessedComments[i].Reply = nil
			}
		}
	})
}

// replyAgain lets a reply be sent to a command that was replied to before, with what became of it. A
// comment that is not remembered gets none.
func replyAgain(comment CommandComment, login, message string) Change {
	return at(repositoryTarget, func(r *Record) {
		for i := range r.ProcessedComments {
			if one := &r.ProcessedComments[i]; one.ID == comment.ID {
				one.Reply = &Reply{Number: comment.Number, Login: login, Command: comment.Command, Message: message}
			}
		}
	})
}

// IgnoreComments ignores all comments that were written before a time. Replies to them are
// still sent.
func IgnoreComments(before time.Time) Change {
	return at(repositoryTarget, func(r *Record) {
		pending := slices.DeleteFunc(slices.Clone(r.ProcessedComments), func(c ProcessedComment) bool {
			return c.Reply == nil || !utc(c.At).Before(utc(before))
		})
		r.dropComments(before)
		r.ProcessedComments = append(pending, r.ProcessedComments...)
	})
}

// commentsSince is the time from which comments are processed by default: the start of a
// day, so that the query to the forge is the same all day.
func commentsSince(now time.Time) time.Time {
	return utc(now.Add(-CommentWindow)).Truncate(24 * time.Hour)
}

// CommentsFrom returns the time from which comments are to be listed. It is false when the
// record that lists the processed ones cannot be read: then none is processed.
func (s State) CommentsFrom(now time.Time) (time.Time, bool) {
	_, broken := s.broken[repositoryTarget]
	from := commentsSince(now)
	if since := s.At(repositoryTarget).CommentsFrom; since != nil && since.After(from) {
		from = *since
	}
	return from, !broken
}

// IsUnprocessed reports whether a comment is still to be processed.
func (s State) IsUnprocessed(id int64, written, now time.Time) bool {
	from, readable := s.CommentsFrom(now)
	if !readable || utc(written).Before(from) || written.Before(now.Add(-CommentWindow)) {
		return false
	}
	return !slices.ContainsFunc(s.At(repositoryTarget).ProcessedComments, func(c ProcessedComment) bool { return c.ID == id })
}

// Outsiders returns how many processed comments are by users without any permission.
func (s State) Outsiders() int {
	n := 0
	for _, one := range s.At(repositoryTarget).ProcessedComments {
		if one.Outsider {
			n++
		}
	}
	return n
}

// PendingReplies returns the comments that still need a reply, in the order in which they
// were written.
func (s State) PendingReplies() []ProcessedComment {
	processed := slices.Clone(s.At(repositoryTarget).ProcessedComments)
	return slices.DeleteFunc(processed, func(c ProcessedComment) bool { return c.Reply == nil })
}

// limitComments keeps the newest comments. What is dropped is never processed again.
func (r *Record) limitComments(most int) {
	slices.SortStableFunc(r.ProcessedComments, func(a, b ProcessedComment) int { return a.At.Compare(b.At) })
	if over := len(r.ProcessedComments) - most; over > 0 {
		r.dropComments(r.ProcessedComments[over-1].At.Add(time.Second))
		r.ProcessedComments = last(r.ProcessedComments, most)
	}
}

// dropComments drops comments from before a time and ignores them from now on. A year that
// cannot be written is skipped.
func (r *Record) dropComments(before time.Time) {
	before = utc(before)
	if (r.CommentsFrom == nil || before.After(*r.CommentsFrom)) && before.Year() <= 9999 {
		r.CommentsFrom = &before
	}
	r.ProcessedComments = slices.DeleteFunc(r.ProcessedComments, func(c ProcessedComment) bool { return utc(c.At).Before(before) })
}
