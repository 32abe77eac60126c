package rest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

func TestWorst_orderOfStates(t *testing.T) {
	t.Parallel()
	check := func(name string, state scm.CheckState) scm.Check { return scm.Check{Name: name, State: state} }
	got := rest.Worst([]scm.Check{
		check("e2e", scm.CheckPassed), check("unit", scm.CheckFailed), check("e2e", scm.CheckPending),
		check("unit", scm.CheckPassed), check("lint", scm.CheckPassed), check("e2e", scm.CheckPassed),
	})
	canceled, skipped := check("canceled", scm.CheckFailed), check("skipped", scm.CheckPassed)
	canceled.NoResult, skipped.NoResult = true, true
	got = append(got, rest.Worst([]scm.Check{
		canceled, check("canceled", scm.CheckPassed), skipped, check("skipped", scm.CheckPassed), skipped,
	})...)
	want := []scm.Check{check("e2e", scm.CheckPending), check("unit", scm.CheckFailed), check("lint", scm.CheckPassed), canceled, check("skipped", scm.CheckPassed)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
