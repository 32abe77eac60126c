package input_test

import (
	"strings"
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
	in := input.New(input.NewIndex(t.Context(), observation), promotion.Target{Environment: "dev"}, promotiontest.Noon, &taken)
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

// Each method that returns what may change notes what that is.
func TestTarget_methodsNoteWhatTheyRead(t *testing.T) {
	t.Parallel()
	noPullRequest := newScenario(t, chain)
	noPullRequest.has("dev/shop", "web:1.5.0")
	open := newScenario(t, chain)
	open.has("dev/shop", "web:1.5.0")
	open.Open = map[string]promotion.Open{"promoter/dev/shop": {Number: 7}}
	tests := []struct {
		name string
		of   *scenario
		read func(in input.Target)
		want input.Reads
	}{
		{"Now", open, func(in input.Target) { in.Now() }, input.Time},
		{"State", open, func(in input.Target) { in.State() }, input.UserDecisions},
		{"Record", open, func(in input.Target) { in.Record() }, input.UserDecisions},
		{"OpenPullRequest", open, func(in input.Target) { in.OpenPullRequest() }, input.PullRequest},
		{"OpenPullRequest, where none is", noPullRequest, func(in input.Target) { in.OpenPullRequest() }, 0},
		{"HasPullRequest", open, func(in input.Target) { in.HasPullRequest() }, 0},
		{"Rules", open, func(in input.Target) { in.Rules() }, input.PullRequest},
		{"Registry", open, func(in input.Target) { in.Registry() }, input.Registry},
		{"Others", open, func(in input.Target) { in.Others() }, input.OtherTargets},
		{"History", open, func(in input.Target) { in.History() }, input.Past},
		{"Checks", open, func(in input.Target) { input.Checks(in, &input.Period{}) }, input.Forge},
		{"Reported", open, func(in input.Target) { input.Reported(in, &input.Period{}) }, input.Health},
		{"Failure", open, func(in input.Target) { input.Failure(in, &input.Period{}) }, input.Health | input.Time | input.UserDecisions},
	}
	for _, test := range tests {
		var taken input.Reads
		in := input.New(input.NewIndex(t.Context(), test.of.Observation), target("dev/shop"), promotiontest.Noon, &taken)
		if taken.Undeclared() != 0 {
			t.Fatalf("undeclared: %s", taken.Undeclared())
		}
		if in.HasPullRequest() != (test.of == open) {
			t.Errorf("%s: a pull request is open: %t", test.name, in.HasPullRequest())
		}
		test.read(in.For(input.Row{Name: "row that declares nothing"}))
		if taken.Undeclared() != test.want {
			t.Errorf("%s: undeclared %q, want %q", test.name, taken.Undeclared(), test.want)
		}
	}
}

// Every decision reads what its sources have and had, and a decision without sources reads neither.
func TestNew_readsItsSources(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	w.has("dev/shop", "web:1.5.0")
	w.has("staging/shop", "web:1.4.0")
	const ofTarget, ofSources = input.Files | input.Registry | input.UserDecisions, input.OtherTargets | input.Past
	for at, want := range map[string]input.Reads{"dev/shop": ofTarget, "staging/shop": ofTarget | ofSources} {
		var taken input.Reads
		input.New(input.NewIndex(t.Context(), w.Observation), target(at), promotiontest.Noon, &taken)
		if taken != want {
			t.Errorf("%s: reads %s, undeclared %s", at, taken, taken.Undeclared())
		}
	}
}

// The names of the kinds are those of the set, in their order.
func TestReads_String(t *testing.T) {
	t.Parallel()
	if got := (input.Files | input.Time | input.Health).String(); got != "files, time, health" {
		t.Errorf("%q", got)
	}
	if got := strings.Count(input.Everything.String(), ",") + 1; got != 9 {
		t.Errorf("everything is %d kinds", got)
	}
}
