package state

import (
	"slices"
	"time"
)

// CommentWindow is the maximum age of comments to process. An older unprocessed
// command is ignored.
const CommentWindow = 7 * 24 * time.Hour

// maxHeard limits the processed comments stored for one repository.
const maxHeard = 500

// ProcessedComment is a comment whose command was executed, rejected or not
// recognized, stored so that it is processed only once. It is only in the
// record of the repository.
type ProcessedComment struct {
	ID   int64     `json:"id"`
	At   time.Time `json:"at"`             // when it was written
	Owed *Answer   `json:"owed,omitempty"` // nil if it was sent, or if there is none
}

// Answer is a pending reply to a comment.
type Answer struct {
	Number   int    `json:"number"` // of the pull request
	Login    string `json:"login"`
	Command  string `json:"command,omitempty"` // as parsed; empty if not recognized
	Reaction string `json:"reaction"`
	Words    string `json:"words,omitempty"`
}

// heardIn returns the target whose record lists the processed comments.
func heardIn() Target { return Target{All, All} }

// Hear records that comments were processed. It is written together with the
// resulting decisions.
func Hear(now time.Time, heard ...ProcessedComment) Change {
	return at(heardIn(), func(r *Record) {
		r.forget(CommentsSince(now))
		for _, one := range heard {
			if !slices.ContainsFunc(r.Heard, func(h ProcessedComment) bool { return h.ID == one.ID }) {
				r.Heard = append(r.Heard, one)
			}
		}
	})
}

// Answered records that the reply to a comment was sent.
func Answered(id int64) Change {
	return at(heardIn(), func(r *Record) {
		for i := range r.Heard {
			if r.Heard[i].ID == id {
				r.Heard[i].Owed = nil
			}
		}
	})
}

// PassOver records that all comments written before a time are processed.
func PassOver(before time.Time) Change {
	return at(heardIn(), func(r *Record) { r.forget(before) })
}

// CommentsSince returns the default start time for listing comments. It is the
// beginning of a day, so that the request stays the same all day.
func CommentsSince(now time.Time) time.Time {
	return utc(now.Add(-CommentWindow)).Truncate(24 * time.Hour)
}

// HearsFrom returns the start time for listing comments. It returns false if
// the record of processed comments cannot be read; no comment is then
// processed.
func (s State) HearsFrom(now time.Time) (time.Time, bool) {
	_, broken := s.broken[heardIn()]
	from := CommentsSince(now)
	if since := s.At(heardIn()).HeardFrom; since != nil && since.After(from) {
		from = *since
	}
	return from, !broken
}

// Hears reports whether a comment is still to be processed.
func (s State) Hears(id int64, written, now time.Time) bool {
	from, knows := s.HearsFrom(now)
	if !knows || utc(written).Before(from) || written.Before(now.Add(-CommentWindow)) {
		return false
	}
	return !slices.ContainsFunc(s.At(heardIn()).Heard, func(h ProcessedComment) bool { return h.ID == id })
}

// Owed returns the comments with pending replies, in the order in which they
// were written.
func (s State) Owed() []ProcessedComment {
	return slices.DeleteFunc(slices.Clone(s.At(heardIn()).Heard), func(h ProcessedComment) bool { return h.Owed == nil })
}

// boundHeard keeps the newest comments. Dropped comments are never processed
// again.
func (r *Record) boundHeard(most int) {
	slices.SortStableFunc(r.Heard, func(a, b ProcessedComment) int { return a.At.Compare(b.At) })
	if over := len(r.Heard) - most; over > 0 {
		r.forget(r.Heard[over-1].At.Add(time.Second))
		r.Heard = last(r.Heard, most)
	}
}

// forget drops comments written before a time and prevents processing of older
// ones. It ignores a year that cannot be encoded.
func (r *Record) forget(before time.Time) {
	before = utc(before)
	if (r.HeardFrom == nil || before.After(*r.HeardFrom)) && before.Year() <= 9999 {
		r.HeardFrom = &before
	}
	r.Heard = slices.DeleteFunc(r.Heard, func(h ProcessedComment) bool { return utc(h.At).Before(before) })
}

// heardTimes, heardWords and clonedHeard are the comment-related parts of
// times, words and clone.
func (r *Record) heardTimes() []*time.Time {
	var times []*time.Time
	if r.HeardFrom != nil {
		times = append(times, r.HeardFrom)
	}
	for i := range r.Heard {
		times = append(times, &r.Heard[i].At)
	}
	return times
}

func (r *Record) heardWords() []*string {
	var words []*string
	for i := range r.Heard {
		if owed := r.Heard[i].Owed; owed != nil {
			words = append(words, &owed.Login, &owed.Command, &owed.Reaction, &owed.Words)
		}
	}
	return words
}

func clonedHeard(heard []ProcessedComment) []ProcessedComment {
	heard = slices.Clone(heard)
	for i := range heard {
		heard[i].Owed = copied(heard[i].Owed)
	}
	return heard
}
