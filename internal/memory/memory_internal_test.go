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

func TestDivide_childrenFitBesideAReconciliation(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]Division{
		230:           {Own: 230},
		460:           {Children: 1, Child: 236, Own: 224},
		920:           {Children: 1, Child: 512, Own: 408},
		1840:          {Children: 1, Child: 512, Own: 1328},
		3680:          {Children: 3, Child: 512, Own: 2144},
		36800:         {Children: 4, Child: 512, Own: 34752},
		math.MaxInt64: {Children: 4, Child: 512, Own: math.MaxInt64},
	} {
		bytes := func(mib int64) int64 {
			if mib == math.MaxInt64 {
				return mib
			}
			return mib << 20
		}
		want.Child, want.Own = bytes(want.Child), bytes(want.Own)
		got := Divide(bytes(limit), 128<<20, 512<<20)
		if got != want {
			t.Errorf("of %d MiB: %+v, want %+v", limit, got, want)
		}
		if got.Children > 0 && parallel(got.Own, 1)*Reconciliation+overhead > int(got.Own) {
			t.Errorf("of %d MiB: no reconciliation fits beside the children", limit)
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
