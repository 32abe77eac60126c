package decisions

import (
	"testing"
	"time"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/state"
)

func TestBudget_isOfEachPrincipal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	b := newBudget(func() time.Time { return now })
	for i := range decisionBurst {
		if err := b.spend("token ci"); err != nil {
			t.Fatalf("decision %d: %v", i, err)
		}
	}
	err := b.spend("token ci")
	if at, known := fault.RetryAt(err); fault.KindOf(err) != fault.RateLimited || !known || !at.Equal(now.Add(decisionInterval)) {
		t.Errorf("one more: %v, again at %v", err, at)
	}
	if err := b.spend("user ana"); err != nil {
		t.Errorf("another principal: %v", err)
	}
	now = now.Add(decisionInterval)
	if err := b.spend("token ci"); err != nil {
		t.Errorf("later: %v", err)
	}
}

// A scope that names environments covers no decision about all of them.
func TestAll_isThatOfTheStateBranch(t *testing.T) {
	t.Parallel()
	if state.All != access.All {
		t.Errorf("%q and %q", state.All, access.All)
	}
}
