package memory

import (
	"math"
	"testing"
)

func TestParallel(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]int{64 << 20: 1, 256 << 20: 1, 460 << 20: 2, 920 << 20: 4, 4 << 30: 4, math.MaxInt64: 4} {
		if got := parallel(limit, 4); got != want {
			t.Errorf("with %d MiB: %d, want %d", limit>>20, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]int64{256 << 20: 32 << 20, 2 << 30: 128 << 20, math.MaxInt64: 128 << 20} {
		if got := share(limit, 8, 128<<20); got != want {
			t.Errorf("of %d MiB: %d, want %d", limit>>20, got, want)
		}
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit, used int64
		fresh, want int
	}{
		{limit: 460, used: 40, want: 2},
		{limit: 460, used: 40, fresh: 1, want: 1},
		{limit: 460, used: 40, fresh: 2, want: 0},
		{limit: 460, used: 60, want: 2}, // two slow ones
		{limit: 460, used: 400, want: 0},
		{limit: 100, used: 400, fresh: 3, want: 0},
	} {
		if got := room(test.limit<<20, test.used<<20, test.fresh); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
	if room(math.MaxInt64, 0, 3) < 1000 {
		t.Error("without a limit, there is no room")
	}
}
