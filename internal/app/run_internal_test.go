package app

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/onboarding"
	"promoter/internal/parallel"
	"promoter/internal/workspace"
)

// A defect in one lane is the failure of its repository. The others are worked on, also
// where it shows in something that is asked side by side.
func TestRun_aDefectStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, defect := range map[string]func(){
		"in the lane": func() { panic("a defect") },
		"side by side": func() {
			if err := parallel.ForEach(2, []int{1, 2}, func(int) error { panic("a defect") }); err != nil {
				panic(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			results, err := forAll(t.Context(), d.connections, RunOptions{}, nil, func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) (err error) {
				if result.Repository == "acme/one" {
					defect()
				}
				result.Report, err = w.Reconciler.Reconcile(ctx)
				return err
			})
			if err != nil || len(results) != 2 {
				t.Fatalf("%d results, %v", len(results), err)
			}
			for _, result := range results {
				switch broken := result.Repository == "acme/one"; {
				case broken != result.Failed():
					t.Errorf("%s: %v", result.Repository, result.Err)
				case broken && (fault.KindOf(result.Err) != fault.Internal || !strings.Contains(result.Err.Error(), "a defect of promoter, please report it: panic: a defect, in app.TestRun_aDefectStopsNoOther")):
					t.Errorf("it says %v", result.Err)
				}
			}
		})
	}
}
