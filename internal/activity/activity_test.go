package activity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/activity"
)

func TestWork_namesWhatHasNotEnded(t *testing.T) {
	t.Parallel()
	var work activity.Work
	ctx := activity.With(t.Context(), &work)
	ends := []func(){}
	for _, name := range []string{"a", "b", "b", "c"} {
		ends = append(ends, activity.Begin(ctx, name))
	}
	ends[0]()
	ends[2]()
	ends[2]() // once more has no effect
	if diff := cmp.Diff([]string{"b", "c"}, work.Names()); diff != "" {
		t.Error(diff)
	}
	activity.Begin(t.Context(), "without work")()
}
