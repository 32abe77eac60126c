package service

import (
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
)

func TestNextChange(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, time.November, 23, 14, 0, 0, 0, time.UTC)
	until := func(at time.Time) promotion.Decision { return promotion.Decision{Reason: promotion.Reason{Until: at}} }
	newerWaits := promotion.Decision{
		State: promotion.Proposed, Newer: []promotion.Move{{Component: "web"}},
		Conditions: []promotion.Condition{{Name: promotion.NewerCondition, State: promotion.Pending, Until: new(began.Add(time.Minute))}},
	}
	tests := []struct {
		name      string
		decisions []promotion.Decision
		want      time.Time
	}{
		{"nothing waits", []promotion.Decision{{}}, time.Time{}},
		{"the earliest time", []promotion.Decision{until(began.Add(2 * time.Second)), until(began.Add(time.Second))}, began.Add(time.Second)},
		{"a newer version waits", []promotion.Decision{newerWaits}, began.Add(time.Minute)},
		{"a time that passed before", []promotion.Decision{until(began.Add(-time.Second)), until(began)}, time.Time{}},
	}
	for _, test := range tests {
		if got := nextChange(outcome.Report{Decisions: test.decisions}, began); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
