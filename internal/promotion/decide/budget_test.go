package decide_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/budget"
	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

// tangled returns a scenario of environments that each follow all earlier ones, in which each had some versions of
// an application before.
func tangled(t *testing.T, environments, applications, versions int) *decidetest.Scenario {
	t.Helper()
	var text strings.Builder
	var earlier []string
	for i := range environments {
		fmt.Fprintf(&text, "  e%[1]d: {paths: ['e%[1]d/{application}'], after: {%[2]s}}\n", i, strings.Join(earlier, ", "))
		earlier = append(earlier, fmt.Sprintf("e%d: {soak: 240h}", i))
	}
	w := decidetest.NewCheckout(t, promotiontest.Components+"\nenvironments:\n"+text.String())
	w.Checkout = false
	w.Landings = map[promotion.Target][]promotion.Landing{}
	for i := range environments {
		for a := range applications {
			target := fmt.Sprintf("e%d/a%d", i, a)
			w.Has(target, fmt.Sprintf("shop:9.9.%d@%c", environments-i, 'A'+i%6))
			at := w.Target(target)
			for v := range versions {
				pinned := promotion.Pinned{
					Repository: promotiontest.Repository("shop"),
					Version:    image.Version{Tag: fmt.Sprintf("10.%d.0", versions-v), Digest: fmt.Sprintf("sha256:%064d", v)},
				}
				w.Landings[at] = append(w.Landings[at], promotion.Landing{
					Commit: "c0ffee", Snapshot: promotion.Snapshot{"shop": pinned}, At: promotiontest.Ago(time.Duration(v+1) * time.Hour), Until: promotiontest.Ago(time.Duration(v) * time.Hour),
				})
			}
		}
	}
	return w
}

// TestPlan_overBudgetDecidesNothing decides about a config that takes minutes without a budget.
func TestPlan_overBudgetDecidesNothing(t *testing.T) {
	t.Parallel()
	w := tangled(t, 100, 1, 120)
	decisions, err := decide.Plan(t.Context(), w.Observation, promotiontest.Noon)
	if !errors.Is(err, budget.ErrExceeded) || fault.KindOf(err) != fault.Invalid || decisions != nil {
		t.Fatalf("%d decisions, error %v", len(decisions), err)
	}
	if want := regexp.MustCompile(`: deciding about a0 in e\d+ takes more than \d+ steps: it follows \d+ environments, and \d+ with theirs$`); !want.MatchString(err.Error()) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPlan_endsWithTheContext(t *testing.T) {
	t.Parallel()
	w := tangled(t, 20, 1, 20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if decisions, err := decide.Plan(ctx, w.Observation, promotiontest.Noon); !errors.Is(err, context.Canceled) || decisions != nil {
		t.Errorf("%d decisions, error %v", len(decisions), err)
	}
	if lookups, err := decide.Lookups(ctx, w.Observation); !errors.Is(err, context.Canceled) || lookups != nil {
		t.Errorf("%d lookups, error %v", len(lookups), err)
	}
}

// Between two environments there are more ways than can be walked.
func TestPlan_absentApplicationInManyEnvironments(t *testing.T) {
	t.Parallel()
	w := tangled(t, 100, 1, 1)
	for target := range w.Targets {
		if target.Environment != "e0" && target.Environment != "e99" {
			delete(w.Targets, target)
		}
	}
	if d := w.Decide("e99/a0"); d.State == promotion.Absent {
		t.Errorf("e99 is %s", d.State)
	}
	at := promotion.Target{Environment: "e99", Application: "a0"}
	parents := w.ParentsOf(at)
	other := slices.ContainsFunc(parents, func(p setting.Parent) bool { return p.Environment != "e0" })
	if other || len(parents) == 0 {
		t.Errorf("the parents are %v", parents)
	}
	if sources := w.Sources("e98", "a0"); len(sources) != 1 || sources[0].Environment != "e0" {
		t.Errorf("the sources are %v", sources)
	}
}
