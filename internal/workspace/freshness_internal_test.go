package workspace

import (
	"fmt"
	"testing"
	"time"
)

// Each image has one turn in an hour, always at the same time of it, and the turns of many
// images are spread evenly.
func TestLastTurn(t *testing.T) {
	t.Parallel()
	const images, parts = 2000, 10
	at := time.Date(2026, 11, 23, 12, 34, 56, 0, time.UTC)
	var taken [parts]int
	for n := range images {
		name := fmt.Sprint("registry.example.com/acme/image-", n)
		turn := lastTurn(name, at)
		if turn.After(at) || at.Sub(turn) >= movedWithin {
			t.Fatalf("%s: the last turn before %s is %s", name, at, turn)
		}
		if again := lastTurn(name, turn); !again.Equal(turn) {
			t.Errorf("%s: the last turn at %s is %s", name, turn, again)
		}
		if before := lastTurn(name, turn.Add(-1)); !before.Equal(turn.Add(-movedWithin)) {
			t.Errorf("%s: the turn before %s is %s", name, turn, before)
		}
		taken[at.Sub(turn)*parts/movedWithin]++
	}
	for part, n := range taken {
		if n < images/parts*3/4 || n > images/parts*5/4 {
			t.Errorf("%d of %d turns are in part %d of %d", n, images, part, parts)
		}
	}
	if never := lastTurn("a", time.Time{}); !never.IsZero() {
		t.Errorf("before any poll: %s", never)
	}
}
