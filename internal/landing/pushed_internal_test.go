package landing

import (
	"testing"
	"time"

	"promoter/internal/scm"
)

// A branch has a commit since the oldest push of an unbroken row of pushes with it, however it was moved.
func TestLastWithout_isNeverTooEarly(t *testing.T) {
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
		"merges are not listed":                  {[]scm.Push{move("middle", "head", 5), move("old", "commit", 9)}, at(9)},
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
			if got := lastWithout(test.pushes, having, now.Add(-pushRace)); !got.Equal(test.want) {
				t.Errorf("since %v, want %v", got, test.want)
			}
		})
	}
}
