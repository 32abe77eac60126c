package state

import (
	"slices"
	"time"
)

// CommentWindow is how far back comments are heard. An older command that nobody heard
// is not carried out any more.
const CommentWindow = 7 * 24 * time.Hour

// maxHeard is how many comments of one repository are remembered.
const maxHeard = 500

// ProcessedComment is a comment whose command was carried out, refused or not understood, so
// that it is heard once. It stands in the record of the repository alone.
type ProcessedComment struct {
	ID   int64     `json:"id"`
	At   time.Time `json:"at"`             // it was written
	Owed *Answer   `json:"owed,omitempty"` // nil: it was given, or there is none
}

// Answer is what is still to be said about a comment.
type Answer struct {
	Number   int    `json:"number"` // of the pull request
	Login    string `json:"login"`
	Command  string `json:"command,omitempty"` // as it was understood; empty: it was not
	Reaction string `json:"reaction"`
	Words    string `json:"words,omitempty"`
}

// heardIn is the place whose record says which comments were heard.
func heardIn() Target { return Target{All, All} }

// Hear remembers that comments were heard. It is written together with what they
// decided.
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

// Answered remembers that a comment was answered.
func Answered(id int64) Change {
	return at(heardIn(), func(r *Record) {
		for i := range r.Heard {
			if r.Heard[i].ID == id {
				r.Heard[i].Owed = nil
			}
		}
	})
}

// PassOver remembers that nothing is left to hear that was written before a time.
func PassOver(before time.Time) Change {
	return at(heardIn(), func(r *Record) { r.forget(before) })
}

// CommentsSince is the time from which comments are heard where nothing else is
// remembered: the beginning of a day, so that the question is the same all day.
func CommentsSince(now time.Time) time.Time {
	return utc(now.Add(-CommentWindow)).Truncate(24 * time.Hour)
}

// HearsFrom returns the time from which comments are to be asked for. It is false
// where the record cannot be read that says which were heard: then none is.
func (s State) HearsFrom(now time.Time) (time.Time, bool) {
	_, broken := s.broken[heardIn()]
	from := CommentsSince(now)
	if since := s.At(heardIn()).HeardFrom; since != nil && since.After(from) {
		from = *since
	}
	return from, !broken
}

// Hears says whether a comment is still to be heard.
func (s State) Hears(id int64, written, now time.Time) bool {
	from, knows := s.HearsFrom(now)
	if !knows || utc(written).Before(from) || written.Before(now.Add(-CommentWindow)) {
		return false
	}
	return !slices.ContainsFunc(s.At(heardIn()).Heard, func(h ProcessedComment) bool { return h.ID == id })
}

// Owed returns the comments that are still to be answered, in the order in which
// they were written.
func (s State) Owed() []ProcessedComment {
	return slices.DeleteFunc(slices.Clone(s.At(heardIn()).Heard), func(h ProcessedComment) bool { return h.Owed == nil })
}

// boundHeard keeps the newest comments. What is forgotten is never heard again.
func (r *Record) boundHeard(most int) {
	slices.SortStableFunc(r.Heard, func(a, b ProcessedComment) int { return a.At.Compare(b.At) })
	if over := len(r.Heard) - most; over > 0 {
		r.forget(r.Heard[over-1].At.Add(time.Second))
		r.Heard = last(r.Heard, most)
	}
}

// forget drops what was written before a time, and hears nothing from before it any
// more. A year that cannot be written is left out.
func (r *Record) forget(before time.Time) {
	before = utc(before)
	if (r.HeardFrom == nil || before.After(*r.HeardFrom)) && before.Year() <= 9999 {
		r.HeardFrom = &before
	}
	r.Heard = slices.DeleteFunc(r.Heard, func(h ProcessedComment) bool { return utc(h.At).Before(before) })
}

// heardTimes, heardWords and clonedHeard are parts of what a record does as a whole.
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
