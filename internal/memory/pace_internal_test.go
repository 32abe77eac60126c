package memory

import (
	"runtime"
	"testing"
)

func TestPace_collectsALargeHeapByPercentAndASmallOneAtTheSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		live, roots int64 // MiB
		want        int
	}{
		{live: 0, roots: 0, want: 6400},
		{live: 4, roots: 4, want: 750},
		{live: 32, roots: 0, want: 100},
		{live: 50, roots: 5, want: 40},
		{live: 64, roots: 5, want: 40},
		{live: 2000, roots: 5, want: 40},
	} {
		if got := (pace{percent: 40, size: 64 << 20}).of(test.live<<20, test.roots<<20); got != test.want {
			t.Errorf("%d MiB in use, %d MiB of roots: %d %%, want %d %%", test.live, test.roots, got, test.want)
		}
	}
}

func TestPace_isSetAgainAfterEachCollection(t *testing.T) {
	t.Parallel()
	set := make(chan int, 100)
	pace{percent: 40, size: 1, set: func(percent int) int { set <- percent; return 0 }}.begin()
	for range 3 {
		if got := <-set; got != 40 {
			t.Errorf("set to %d", got)
		}
		runtime.GC()
	}
}
