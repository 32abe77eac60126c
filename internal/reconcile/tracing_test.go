package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/reconcile/outcome"
)

type partKey struct{}

// Each part is traced within the one that it belongs to, with its effects. A
// reconciliation at rest has no part that changes something.
func TestReconcile_tracesItsParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	var told []string
	reconcile := func() []string {
		told = nil
		reconciler := w.Reconciler()
		reconciler.Trace = func(ctx context.Context, part string) (context.Context, func([]outcome.Effect, error)) {
			within, _ := ctx.Value(partKey{}).(string)
			part = within + "/" + part
			return context.WithValue(ctx, partKey{}, part), func(all []outcome.Effect, err error) {
				line := part
				for _, done := range all {
					line += fmt.Sprintf(" %s %s", done.Action, done.Environment.Name)
				}
				if err != nil {
					line += " " + err.Error()
				}
				told = append(told, line)
			}
		}
		if _, err := reconciler.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		return told
	}
	got := reconcile()
	for _, want := range []string{"/attempt", "/attempt/observe", "/attempt/plan", "/attempt/push pushed dev", "/attempt/propose opened staging"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	w.calm()
	want := []string{"/attempt/observe", "/attempt/plan", "/attempt/propose nothing staging", "/attempt"}
	if diff := cmp.Diff(want, reconcile()); diff != "" {
		t.Errorf("at rest (-want +got):\n%s", diff)
	}
}
