package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
)

// decided lists the decisions of a report with their reasons and notes, except those of some targets.
func decided(report outcome.Report, except []promotion.Target) []string {
	var all []string
	for _, d := range report.Decisions {
		if !slices.Contains(except, d.Target) {
			all = append(all, fmt.Sprint(d.Environment, " ", d.State, ": ", d.Reason, " ", d.Notes))
		}
	}
	slices.Sort(all)
	return all
}

// landsIn lists the environments of effects, of which some landed or would land.
func landsIn(effects []outcome.Effect, lands func(outcome.Effect) bool) (environments []string, landed []promotion.Target) {
	for _, e := range effects {
		for _, d := range e.Decisions {
			if lands(e) {
				environments, landed = append(environments, d.Environment+" "+promotion.TargetsText(d.Moves...)), append(landed, d.Target)
			}
		}
	}
	slices.Sort(environments)
	return environments, landed
}

// What plan, explain, and a dry run show is what the next reconciliation decides and does.
func TestViews_agreeUnderEachRule(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		of   func(t *testing.T) *world
		in   string // an environment with the rule
		want string // its reason, or a note
	}{
		"a rollback upstream": {func(t *testing.T) *world {
			t.Helper()
			w := soaked(t, followedAfterSoak)
			w.rollBack("staging")
			w.Clock.Add(2 * time.Second)
			return w
		}, "prod", "was rolled back in staging by ada"},
		"a rollback upstream that lands": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, strings.ReplaceAll(followedAfterSoak, "land: pr", "land: push"))
			w.pushAndRun(web, "1.1.0")
			w.Clock.Add(5 * time.Second)
			w.rollBack("staging")
			w.Clock.Add(2 * time.Second)
			return w
		}, "prod", "up to date"},
		"a request that waits": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, prodOnRequest)
			w.pushAndRun(web, "1.1.0")
			w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), w.requested("1.1.0")))
			w.pushAndRun(web, "1.2.0")
			return w
		}, "prod", "frozen by ada"},
		"a request that lands": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, strings.ReplaceAll(prodOnRequest, "automerge", "push"))
			w.pushAndRun(web, "1.1.0")
			w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), w.requested("1.1.0")))
			w.pushAndRun(web, "1.2.0")
			w.decide(state.Thaw("prod"))
			return w
		}, "", ""},
		"a request that ended": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, strings.Replace(prodOnRequest, "after: [dev]", "after: {dev: {soak: 2h}}", 1))
			w.pushAndRun(web, "1.1.0")
			w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), w.requested("1.1.0")))
			w.run()
			w.Clock.Add(time.Hour)
			w.pushAndRun(web, "1.2.0")
			return w
		}, "prod", "the request of ada for web 1.1.0 ended: dev soak"},
		"a request that ends now": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, prodOnRequest)
			w.pushAndRun(web, "1.1.0")
			request := w.requested("1.1.0")
			w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), request))
			w.run()
			w.decide(state.Reject(in("dev"), state.Rejection{Act: w.act("broken"), Images: request.For}))
			return w
		}, "prod", "the request of ada for web 1.1.0 ended: dev: web 1.1.0 was rejected by ada"},
		"a renamed environment": {func(t *testing.T) *world {
			t.Helper()
			w := waitingForProd(t, false, stopsOfProd()["rejection"])
			w.rename([]string{"  prod:", "  production:"})
			return w
		}, "production", "rejected as shop in prod; renamed to shop in production"},
		"a revert in a renamed environment": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, strings.ReplaceAll(strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], land: push}"), "automerge", "push"))
			w.pushAndRun(web, "1.1.0")
			w.Clock.Add(time.Minute)
			w.byHand("main", "prod", line(web, "1.1.0"), line(web, "1.0.0"))
			w.rename([]string{"  prod:", "  production:"})
			return w
		}, "production", "was here before and was reverted"},
		"a pull request that was reopened": {func(t *testing.T) *world {
			t.Helper()
			w := staged(t, threeEnvironments)
			w.Forge.CloseByHand(1, "ada")
			w.run()
			w.Clock.Add(time.Minute)
			w.Forge.Reopen(1, "ada")
			return w
		}, "staging", "dev has: web 1.0.0 -> 1.1.0"},
		"a version that a user wrote after a close": {func(t *testing.T) *world {
			t.Helper()
			w := staged(t, strings.ReplaceAll(threeEnvironments, "automerge", "push"))
			w.Forge.CloseByHand(1, "ada")
			w.run()
			w.Clock.Add(time.Minute)
			w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			return w
		}, "", ""},
		"a version that is replaced on the way": {func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, strings.ReplaceAll(strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], land: push}"), "automerge", "push"))
			w.decide(state.Hold(in("staging"), w.act("")))
			w.pushAndRun(web, "1.1.0")
			w.decide(state.Resume(in("staging"), w.act("")))
			w.push(web, "1.2.0")
			return w
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := story.of(t)
			plan, err := w.Reconciler().Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			explained, err := w.Reconciler().Explain(t.Context(), reconcile.Question{Environment: plan.Decisions[0].Environment})
			if err != nil {
				t.Fatal(err)
			}
			dry, err := w.Reconciler().Rehearse(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			made := w.run()
			want, landed := landsIn(made.Effects, func(e outcome.Effect) bool {
				return e.Action == outcome.ActionPushed || e.Action == outcome.ActionMerged
			})
			announced, _ := landsIn(dry.Effects, func(e outcome.Effect) bool { return e.Planned })
			if diff := cmp.Diff(want, announced); diff != "" {
				t.Errorf("the dry run lands (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decided(made, landed), decided(dry, landed)); diff != "" {
				t.Errorf("the dry run (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decided(plan, nil), decided(explained, nil)); diff != "" {
				t.Errorf("explain (-want +got):\n%s", diff)
			}
			if len(landed) == 0 { // otherwise plan is about what was there before
				if diff := cmp.Diff(decided(made, nil), decided(plan, nil)); diff != "" {
					t.Errorf("plan (-want +got):\n%s", diff)
				}
			}
			found := slices.ContainsFunc(decided(made, nil), func(text string) bool {
				return strings.HasPrefix(text, story.in+" ") && strings.Contains(text, story.want)
			})
			if story.in != "" && !found {
				t.Errorf("%s: want %q in %q", story.in, story.want, decided(made, nil))
			}
		})
	}
}
