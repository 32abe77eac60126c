package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/health"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/store"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// What became of landed snapshots is observed again with the same identities, also when the
// times of landings are not known.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	target := promotion.Target{Environment: "prod", Application: "shop"}
	one, two, three := promotiontest.SnapshotOf("web:1"), promotiontest.SnapshotOf("web:2"), promotiontest.SnapshotOf("web:3")
	decisions, _ := state.State{}.Apply(state.Fail(state.Target(target), state.Failure{Snapshot: three.ID(), Reason: "Degraded for 15m", At: noon}, nil, nil))
	report := outcome.Report{
		UserDecisions: []state.State{decisions},
		Landings: map[promotion.Target][]promotion.Landing{target: {
			{Commit: "d", First: "c", Snapshot: three, Before: one, Health: health.State{Status: health.Degraded, UnhealthySince: noon.Add(-15 * time.Minute)}},
			{Commit: "b", Snapshot: two, Before: one, Reverted: true, Health: health.State{Status: health.Healthy, HealthySince: noon.Add(-time.Hour)}},
			{Commit: "a", Snapshot: one},
		}},
	}
	text := func(at time.Time) (lines []string) {
		for _, e := range (eventWriter{key: "k", name: "n", now: at}).observed(report, nil) {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s", e.Identity()[:4], e.Action, e.Versions[0].Tag, e.Commit, e.Since.Format("15:04")))
		}
		return lines
	}
	first := text(noon.Add(time.Minute))
	want := []string{"healthy 2 b 00:00", "reverted 2 b 00:00", "failed 3 c 11:45"}
	for i, line := range first {
		if _, rest, _ := strings.Cut(line, " "); rest != want[i] {
			t.Errorf("%q, want %q", rest, want[i])
		}
	}
	if diff := cmp.Diff(first, text(noon.Add(time.Hour))); diff != "" || len(first) != len(want) {
		t.Errorf("again (-want +got):\n%s", diff)
	}
}

// A request whose versions can no longer come is a row with the reason, the same one each time.
func TestObserved_showsRequestsThatEnded(t *testing.T) {
	t.Parallel()
	target := state.Target{Environment: "prod", Application: "shop"}
	ann := identity.User{Host: "forge.example", Login: "ann"}
	request := state.Request{Act: state.Act{By: ann, At: noon, Reason: "for the fair"}, For: map[string]string{"web": "quay.io/acme/web:1.1.0"}}
	waiting, _ := state.State{}.Apply(state.AddRequest(target, request))
	over, _ := waiting.Apply(state.EndRequest(target, request, "dev has web 1.2.0", noon.Add(time.Hour)))
	w := eventWriter{key: "k", name: "n", now: noon.Add(2 * time.Hour)}
	all := w.observed(outcome.Report{UserDecisions: []state.State{waiting, over, over}}, nil)
	if len(all) != 2 {
		t.Fatalf("events: %+v", all)
	}
	if asked := all[0]; asked.Action != "promote" || asked.User != "ann" || len(asked.Versions) != 1 || asked.Versions[0].Tag != "1.1.0" {
		t.Errorf("the request: %+v", asked)
	}
	want := store.Event{
		Repository: "k", Name: "n", Environment: "prod", Application: "shop", Action: store.EventEnded, At: noon.Add(time.Hour),
		Versions: all[0].Versions, Attribution: store.Attribution{RequestedBy: "ann", Reason: "for the fair"},
		Rule: string(promotion.RuleRequestEnded), Message: "dev has web 1.2.0",
	}
	if diff := cmp.Diff(want, all[1]); diff != "" {
		t.Errorf("the end (-want +got):\n%s", diff)
	}
}

// The times of a promotion are those of its gates, of its images, and of their oldest source
// commits. Names that differ from one version to the next are one.
func TestTimes(t *testing.T) {
	t.Parallel()
	target := promotion.Target{Environment: "prod", Application: "shop"}
	old, wanted := promotiontest.SnapshotOf("api:1", "web:1"), promotiontest.SnapshotOf("api:2", "web:2")
	decision := promotion.Decision{
		Target: target, State: promotion.Waiting, Snapshot: wanted, Moves: promotion.ChangesOf(old, wanted),
		Conditions: []promotion.Condition{
			{Name: "api 2", State: promotion.Passed},
			{Name: "web 2", State: promotion.Pending},
			{Name: "web 2 signature", State: promotion.Passed},
			{Name: "staging soak", State: promotion.Pending},
		},
		Gates: []promotion.Condition{{Name: "hold sre", State: promotion.Passed}},
	}
	api, web := decision.Moves[0], decision.Moves[1]
	changes := map[pullrequest.ChangeKey]pullrequest.Change{
		pullrequest.KeyOf(api): {
			To:     image.Description{Created: noon},
			Source: scm.Change{Comparison: scm.Comparison{Commits: []scm.Commit{{Committed: noon.Add(-time.Hour)}, {}, {Committed: noon.Add(-2 * time.Hour)}}}},
		},
		pullrequest.KeyOf(web): {
			To:     image.Description{Created: time.Unix(0, 0)},
			Source: scm.Change{Removes: true, Comparison: scm.Comparison{Commits: []scm.Commit{{Committed: noon}}}},
		},
	}
	report := outcome.Report{
		Decisions: []promotion.Decision{decision},
		Effects:   []outcome.Effect{{Proposal: propose.Proposal{Decisions: []promotion.Decision{decision}}, Changes: changes, Action: outcome.ActionNone}},
	}
	var got []string
	for _, one := range (eventWriter{key: "k", now: noon}).times(report) {
		got = append(got, fmt.Sprintf("%s %s %v %s", one.Kind, one.Name, one.Passed, one.Began.Format("15:04")))
	}
	want := []string{
		"commit api false 10:00", "gate hold true 00:00", "gate image false 00:00", "gate signature true 00:00", "gate staging soak false 00:00", "image api false 12:00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	decision.State = promotion.Same
	report = outcome.Report{Decisions: []promotion.Decision{decision}}
	if again := (eventWriter{key: "k", now: noon}).times(report); len(again) != 0 {
		t.Errorf("of what does not move: %+v", again)
	}
}

// A webhook that led to an action is named with its receipt.
func TestActions_haveTheReceiptOfTheirTrigger(t *testing.T) {
	t.Parallel()
	decision := promotion.Decision{Target: promotion.Target{Environment: "prod", Application: "shop"}, Snapshot: promotiontest.SnapshotOf("web:1")}
	effects := []outcome.Effect{{Proposal: propose.Proposal{Decisions: []promotion.Decision{decision}}, Action: outcome.ActionOpened, Number: 1}}
	trigger := store.Trigger{DeliveryRef: store.DeliveryRef{Receiver: "ghcr", Delivery: "d1"}, At: noon}
	got := (eventWriter{key: "k", now: noon.Add(time.Minute)}).actions(effects, trigger)
	if len(got) != 1 || !got[0].Since.Equal(noon) || got[0].Trigger != trigger.DeliveryRef {
		t.Errorf("%+v", got)
	}
}
