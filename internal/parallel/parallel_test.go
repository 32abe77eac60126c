package parallel_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/parallel"
)

func TestForEach(t *testing.T) {
	t.Parallel()
	var running, most, calls atomic.Int32
	broken := errors.New("broken")
	err := parallel.ForEach(3, make([]int, 50), func(int) error {
		if now := running.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer running.Add(-1)
		if calls.Add(1) == 1 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || calls.Load() != 50 || most.Load() > 3 {
		t.Errorf("%d calls, %d at a time, %v", calls.Load(), most.Load(), err)
	}
	if err := parallel.ForEach(3, nil, func(int) error { return broken }); err != nil {
		t.Errorf("without values: %v", err)
	}
}

func TestForEach_panicIsAnError(t *testing.T) {
	t.Parallel()
	err := parallel.ForEach(2, []string{"a", "b"}, func(value string) error {
		if value == "b" {
			panic("index out of range")
		}
		return nil
	})
	if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("error: %v", err)
	}
}
