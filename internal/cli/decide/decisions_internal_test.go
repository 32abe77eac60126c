package decide

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/identity"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
)

// A decision whose target is gone is one row, which has what it stops now. It is also found by that name.
func TestDecisions_ofTargetsThatAreGone(t *testing.T) {
	t.Parallel()
	old, now := state.Target{Environment: "prod", Application: "shop"}, state.Target{Environment: "production", Application: "shop"}
	at := time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	act := state.Act{By: identity.User{Host: "forge.example", Login: "ann"}, At: at, Reason: "incident 7"}
	decisions, _ := state.State{}.Apply(state.Hold(old, act), state.Hold(state.Target{Environment: "dev", Application: "shop"}, act))
	var hold state.Stop
	for _, stop := range decisions.Stops(at) {
		if stop.Of == old {
			hold = stop
		}
	}
	decisions = decisions.WithRenamed(state.Renamed{
		Targets: map[state.Target][]state.Moved{now: {{Stop: hold, How: state.HasFiles, Gone: true}}},
		Gone:    []state.Stop{hold},
	})
	results := []app.Result{{Repository: "acme/gitops", Report: outcome.Report{UserDecisions: []state.State{decisions}}}}
	for _, environment := range []string{"prod", "production"} {
		found := decisionsInEffect(results, at, func(target state.Target) bool { return target.Environment == environment })
		text := decisionsText(found)
		if len(found.Decisions) != 1 || !found.Decisions[0].Gone || strings.Count(text, "its target is gone; stops shop in production; 'promoter resume") != 1 {
			t.Errorf("%s: %d decisions\n%s", environment, len(found.Decisions), text)
		}
	}
	results[0].Report.UserDecisions[0] = decisions.WithRenamed(state.Renamed{Gone: []state.Stop{hold}})
	all := decisionsText(decisionsInEffect(results, at, func(state.Target) bool { return true }))
	if strings.Count(all, "stops nothing now") != 1 || strings.Count(all, "\n") != 3 {
		t.Errorf("all:\n%s", all)
	}
}
