package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/state"
)

// heardAt returns a comment written some minutes after noon.
func heardAt(id int64, minutes int) state.ProcessedComment {
	return state.ProcessedComment{ID: id, At: after(minutes)}
}

func owes(id int64, minutes int) state.ProcessedComment {
	h := heardAt(id, minutes)
	h.Reply = &state.Reply{Number: 7, Login: "ann", Command: "help", Reaction: "done", Message: "because"}
	return h
}

// hears reads the branch again and reports whether a comment is still to be
// processed.
func hears(t *testing.T, s state.State, id int64, minutes int, now time.Time) bool {
	t.Helper()
	return read(t, whole(s)).IsUnprocessed(id, after(minutes), now)
}

func TestHear_once(t *testing.T) {
	t.Parallel()
	if !(state.State{}).IsUnprocessed(1, noon, noon) {
		t.Error("a comment is not heard on an empty branch")
	}
	s := apply(t, state.State{}, state.MarkProcessed(noon, owes(1, 0)), state.Hold(shop, act("ann", 0)))
	again := apply(t, s, state.MarkProcessed(noon, heardAt(1, 0)))
	same(t, s, again)
	if hears(t, s, 1, 0, noon) {
		t.Error("a comment is heard twice")
	}
	if !hears(t, s, 2, -60, noon) {
		t.Error("an earlier comment, which nobody heard, is not heard")
	}
	if len(s.Diff(state.State{})) != 2 {
		t.Errorf("the decision and the comment are not written together: %v", whole(s))
	}
}

func TestHear_nothingOld(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.MarkProcessed(noon, heardAt(1, 0)))
	week := 7 * 24 * 60
	for minutes, want := range map[int]bool{-week - 1: false, -week + 1: true, 0: true, 60: true} {
		for _, of := range []state.State{{}, s} {
			if got := of.IsUnprocessed(2, after(minutes), noon); got != want {
				t.Errorf("written %d minutes after noon: %v, want %v", minutes, got, want)
			}
		}
	}
	late := noon.Add(state.CommentWindow + 48*time.Hour)
	s = apply(t, s, state.MarkProcessed(late, heardAt(2, 9*24*60)))
	if got := s.At(everyone).ProcessedComments; len(got) != 1 || got[0].ID != 2 {
		t.Errorf("remembered %v", got)
	}
	if hears(t, s, 1, 0, noon) {
		t.Error("what was forgotten is heard again by a clock that is behind")
	}
	s = apply(t, s, state.IgnoreComments(after(9*24*60+5)))
	if from, _ := s.CommentsFrom(late); !from.Equal(after(9*24*60 + 5)) {
		t.Errorf("hears from %v", from)
	}
	s = apply(t, s, state.MarkProcessed(late, owes(3, 9*24*60+6)), state.IgnoreComments(after(9*24*60+7)))
	if got := s.PendingReplies(); len(got) != 1 || hears(t, s, 3, 9*24*60+6, late) {
		t.Errorf("the replies to send are %v", got)
	}
}

// A user who writes more commands than are stored cannot cause one to be
// processed twice.
func TestHear_boundsWhatIsRemembered(t *testing.T) {
	t.Parallel()
	s := state.State{}
	for i := range 700 {
		s = apply(t, s, state.MarkProcessed(noon, heardAt(int64(i+1), i)))
	}
	if n := len(s.At(everyone).ProcessedComments); n != 500 {
		t.Errorf("%d are remembered", n)
	}
	for i := range 700 {
		if hears(t, s, int64(i+1), i, after(700)) {
			t.Errorf("comment %d is heard again", i+1)
		}
	}
}

func TestOutsiders(t *testing.T) {
	t.Parallel()
	outsider := heardAt(1, 0)
	outsider.Outsider = true
	s := read(t, whole(apply(t, state.State{}, state.MarkProcessed(noon, outsider, heardAt(2, 1)))))
	if n := s.Outsiders(); n != 1 {
		t.Errorf("%d of them", n)
	}
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.MarkProcessed(noon, owes(2, 1), owes(1, 0), heardAt(3, 2)))
	s = read(t, whole(s))
	if diff := cmp.Diff([]state.ProcessedComment{owes(1, 0), owes(2, 1)}, s.PendingReplies()); diff != "" {
		t.Errorf("owed (-want +got):\n%s", diff)
	}
	answered := apply(t, s, state.MarkReplied(1), state.MarkReplied(1), state.MarkReplied(9))
	if diff := cmp.Diff([]state.ProcessedComment{owes(2, 1)}, answered.PendingReplies()); diff != "" {
		t.Errorf("owed (-want +got):\n%s", diff)
	}
	if len(s.PendingReplies()) != 2 {
		t.Error("the state before was changed")
	}
}

// If the record cannot be read, the processed comments are unknown.
func TestHears_brokenRecord(t *testing.T) {
	t.Parallel()
	s := read(t, map[string]string{"_all/_all.json": `{"schema":1,"processedComments":7}`})
	if _, knows := s.CommentsFrom(noon); knows || s.IsUnprocessed(1, noon, noon) {
		t.Error("a comment is heard")
	}
}

// A release without support for comments preserves unknown keys, and so does
// this release for keys of later ones.
func TestHear_keepsWhatLaterReleasesWrote(t *testing.T) {
	t.Parallel()
	s := read(t, map[string]string{"_all/_all.json": `{"schema":1,"commentsFrom":"2026-11-11T00:00:00Z","processedComments":[{"id":1,"at":"2026-11-18T11:00:00Z","url":"x"}]}`})
	s = apply(t, s, state.MarkProcessed(noon, heardAt(2, 1)))
	want := `{
  "schema": 1,
  "commentsFrom": "2026-11-11T00:00:00Z",
  "processedComments": [
    {
      "id": 1,
      "at": "2026-11-18T11:00:00Z",
      "url": "x"
    },
    {
      "id": 2,
      "at": "2026-11-18T11:01:00Z"
    }
  ]
}
`
	if diff := cmp.Diff(want, whole(s)["_all/_all.json"]); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}
