package schedule

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 23, 12, 34, 56, 0, time.UTC)

// Each name has one turn in an interval, always at the same time of it, and the turns of
// many names are spread evenly.
func TestLastTurn(t *testing.T) {
	t.Parallel()
	const names, parts = 2000, 10
	var taken [parts]int
	for n := range names {
		name := fmt.Sprint("registry.example.com/acme/image-", n)
		turn := LastTurn(name, time.Hour, noon)
		if turn.After(noon) || noon.Sub(turn) >= time.Hour {
			t.Fatalf("%s: the last turn before %s is %s", name, noon, turn)
		}
		if again := LastTurn(name, time.Hour, turn); !again.Equal(turn) {
			t.Errorf("%s: the last turn at %s is %s", name, turn, again)
		}
		if before := LastTurn(name, time.Hour, turn.Add(-1)); !before.Equal(turn.Add(-time.Hour)) {
			t.Errorf("%s: the turn before %s is %s", name, turn, before)
		}
		taken[noon.Sub(turn)*parts/time.Hour]++
	}
	evenly(t, taken[:], names)
	if never := LastTurn("a", time.Hour, time.Time{}); !never.IsZero() {
		t.Errorf("before any poll: %s", never)
	}
}

// evenly checks that each part has about the same number.
func evenly(t *testing.T, taken []int, all int) {
	t.Helper()
	for part, n := range taken {
		if n < all/len(taken)*3/4 || n > all/len(taken)*5/4 {
			t.Errorf("%d of %d turns are in part %d: %v", n, all, part, taken)
		}
	}
}

// A repository with many images has several turns, of which each image has one. It is
// reconciled at each of them.
func TestTurns_ofOneRepository(t *testing.T) {
	t.Parallel()
	const images, poll, tick = 2000, 5 * time.Minute, 15 * time.Second
	turns := TurnsOf("github.com/1", images, poll)
	var taken [maxTurns]int
	for n := range images {
		image := fmt.Sprint("registry.example.com/acme/image-", n)
		turn := turns.Last(image, noon)
		if turn.After(noon) || noon.Sub(turn) >= poll {
			t.Fatalf("%s: the last turn before %s is %s", image, noon, turn)
		}
		if next := turns.Last(image, turn.Add(poll)); !next.Equal(turn.Add(poll)) {
			t.Errorf("%s: the turn after %s is %s", image, turn, next)
		}
		if !turns.Passed(turn.Add(-1), turn) {
			t.Errorf("%s: the repository has no turn at %s", image, turn)
		}
		taken[noon.Sub(turn)*maxTurns/poll]++
	}
	evenly(t, taken[:], images)
	for images, want := range map[int]int{0: 1, 1: 1, imagesOfTurn: 1, imagesOfTurn + 1: 2, images: maxTurns, 1e6: maxTurns} {
		turns, passed := TurnsOf("github.com/1", images, poll), 0
		for at := noon; at.Before(noon.Add(poll)); at = at.Add(tick) {
			if turns.Passed(at, at.Add(tick)) {
				passed++
			}
		}
		if passed != want {
			t.Errorf("%d images: %d turns, want %d", images, passed, want)
		}
	}
}
