package input_test

import (
	"testing"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
)

// A row that reads what it does not declare makes the decision read everything, so that it is not
// kept, and is found by tests.
func TestTarget_undeclaredReads(t *testing.T) {
	t.Parallel()
	observation := promotion.Observation{Config: promotiontest.Load(t, promotiontest.Components+"environments: {dev: {paths: [dev]}}")}
	var taken input.Reads
	in := input.New(input.NewIndex(observation), promotion.Target{Environment: "dev"}, promotiontest.Noon, &taken)
	row := in.For(input.Row{Name: "row", Reads: input.Past})
	row.History()
	if taken.Undeclared() != 0 || taken.ChangesUnseen() || !taken.Has(input.Past) {
		t.Errorf("reads %s, undeclared %s", taken, taken.Undeclared())
	}
	row.Now()
	if taken.Undeclared() != input.Time || !taken.Has(input.Everything) {
		t.Errorf("reads %s, undeclared %s", taken, taken.Undeclared())
	}
}
