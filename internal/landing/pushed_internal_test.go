package landing

import (
	"testing"
	"time"

	"promoter/internal/scm"
)

// A branch has a commit since the oldest push of an unbroken row of pushes with it, however it was moved.
func TestHadSince_isNeverTooEarly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return now.Add(time.Duration(-minutes) * time.Minute) }
	move := func(before, after string, minutes int) scm.Push {
		return scm.Push{Before: before, After: after, At: at(minutes)}
	}
	none, unknown := time.Time{}, func(minutes int) scm.Push { return scm.Push{At: at(minutes)} }
	having := map[string]bool{"head": true, "middle": true, "commit": true}
	for name, test := range map[string]struct {
		pushes []scm.Push // newest first
		want   time.Time
	}{
		"nothing is listed":                      {nil, none},
		"pushed alone":                           {[]scm.Push{move("old", "head", 9)}, at(9)},
		"pushed with others":                     {[]scm.Push{move("middle", "head", 5), move("old", "middle", 9), move("", "old", 20)}, at(9)},
		"older ones are not listed":              {[]scm.Push{move("middle", "head", 5), move("commit", "middle", 9)}, at(9)},
		"a move between two is not listed":       {[]scm.Push{move("middle", "head", 5), move("old", "commit", 9)}, at(5)},
		"it came back by a move that is hidden":  {[]scm.Push{move("middle", "head", 3), move("commit", "old", 5), move("old", "commit", 9)}, at(3)},
		"hidden after another one":               {[]scm.Push{move("middle", "head", 3), move("commit", "middle", 5), move("old", "head", 9)}, at(5)},
		"in the same second, in another order":   {[]scm.Push{move("middle", "head", 3), move("old", "commit", 9), move("commit", "middle", 9)}, at(9)},
		"the last push is not listed yet":        {[]scm.Push{move("old", "commit", 9)}, at(9)},
		"moved away and back":                    {[]scm.Push{move("old", "head", 3), move("head", "old", 5), move("old", "head", 9)}, at(3)},
		"moved away and created again":           {[]scm.Push{move("", "head", 3), move("head", "", 5), move("old", "head", 9)}, at(3)},
		"deleted without its commits":            {[]scm.Push{move("", "head", 3), unknown(4), unknown(5), move("old", "head", 9)}, at(3)},
		"moved away, and back in an unknown way": {[]scm.Push{unknown(3), move("head", "old", 5), move("old", "head", 9)}, none},
		"moved away in an unknown way, and back": {[]scm.Push{move("old", "head", 3), unknown(5), move("old", "head", 9)}, at(3)},
		"one unknown move":                       {[]scm.Push{unknown(3), move("middle", "head", 5), unknown(7), move("old", "commit", 9)}, at(9)},
		"two unknown moves":                      {[]scm.Push{move("middle", "head", 5), unknown(6), unknown(7), move("old", "commit", 9)}, at(5)},
		"moved after it was read":                {[]scm.Push{move("head", "next", 0), move("old", "head", 9)}, at(9)},
		"moved away before it was read":          {[]scm.Push{move("head", "next", 2), move("old", "head", 9)}, none},
		"other commits":                          {[]scm.Push{move("old", "other", 9)}, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := hadSince(inOrder(test.pushes, "head"), having, now.Add(-pushRace)); !got.Equal(test.want) {
				t.Errorf("since %v, want %v", got, test.want)
			}
		})
	}
}

// Where the list shows that a move is missing, it does not show where the branch was before.
func TestHeadAt_needsEveryMove(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	move := func(before, after string, minutes int) scm.Push {
		return scm.Push{Before: before, After: after, At: now.Add(time.Duration(-minutes) * time.Minute)}
	}
	for name, test := range map[string]struct {
		pushes []scm.Push
		want   string
	}{
		"nothing is listed":                    {nil, ""},
		"every move":                           {[]scm.Push{move("b", "head", 5), move("a", "b", 9)}, "b"},
		"no older move is listed":              {[]scm.Push{move("b", "head", 5)}, ""},
		"the last move is not listed":          {[]scm.Push{move("a", "b", 9)}, ""},
		"a move between two is not listed":     {[]scm.Push{move("b", "head", 5), move("old", "a", 9)}, ""},
		"the same, between older ones":         {[]scm.Push{move("b", "head", 5), move("a", "b", 6), move("x", "y", 9)}, ""},
		"an unknown move":                      {[]scm.Push{move("b", "head", 5), {At: now}, move("a", "b", 9)}, ""},
		"in the same second, in another order": {[]scm.Push{move("a", "b", 5), move("b", "head", 5), move("old", "a", 9)}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const branch = "main"
			r := Reader{Repository: pushing{}, Pushes: NewPushes()}
			r.Pushes.branches[branch] = inOrder(test.pushes, "head")
			got, err := r.HeadAt(t.Context(), Observed{Heads: map[string]string{branch: "head"}}, branch, now.Add(-7*time.Minute))
			if err != nil || got != test.want {
				t.Errorf("%q, want %q, %v", got, test.want, err)
			}
		})
	}
}

// pushing is a forge that lists pushes.
type pushing struct {
	scm.Repository
	scm.Pushes
}
