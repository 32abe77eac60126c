package pullrequest_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// protectedWorld has an open pull request of an environment that merges by itself,
// and main asks the rules.
func protectedWorld(t *testing.T, rules scm.Rules, open promotion.Open) *decidetest.Scenario {
	t.Helper()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  prod: {paths: ["prod/{application}"], land: automerge}
`).WithForge()
	w.Has("prod/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	open.Number, open.Head = 7, "promoter/prod/shop"
	open.Snapshots = map[string]promotion.Snapshot{"shop": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)}
	w.Open[open.Head] = open
	w.Protected = map[string]promotion.Protection{"": {Branch: "main", Rules: rules}}
	return w
}

func votes(logins ...string) []promotion.Vote {
	var all []promotion.Vote
	for _, login := range logins {
		by, old := strings.CutSuffix(login, " before")
		all = append(all, promotion.Vote{By: by, Current: !old})
	}
	return all
}

func TestProtection_becomesGates(t *testing.T) {
	t.Parallel()
	const notReported = "the check ci was not reported; run it on promoter's branches, or remove it from the required checks of main"
	for name, test := range map[string]struct {
		rules scm.Rules
		open  promotion.Open
		want  promotion.Condition
	}{
		"no approval": {
			scm.Rules{Approvals: 2},
			promotion.Open{},
			promotion.Condition{Name: "protection approvals", State: promotion.Pending, Value: "0 of 2", Reason: "main requires 2 approvals"},
		},
		"one approval": {
			scm.Rules{Approvals: 2, Owners: true},
			promotion.Open{Votes: votes("ada")},
			promotion.Condition{
				Name: "protection approvals", State: promotion.Pending, Value: "1 of 2",
				Reason: "main requires 2 approvals, and those of code owners (CODEOWNERS)",
			},
		},
		"enough": {
			scm.Rules{Approvals: 1},
			promotion.Open{Votes: votes("ada before")},
			promotion.Condition{Name: "protection approvals", State: promotion.Passed, Value: "1 of 1"},
		},
		"the owners, perhaps": {
			scm.Rules{Owners: true},
			promotion.Open{},
			promotion.Condition{Name: "protection approvals", State: promotion.Passed, Reason: "if the files have code owners, the forge decides whether they approved"},
		},
		"before the last push": {
			scm.Rules{Approvals: 1, NotByPusher: true},
			promotion.Open{Votes: votes("ada before")},
			promotion.Condition{Name: "protection approvals", State: promotion.Pending, Value: "1 of 1", Reason: "main requires 1 approval, one of them for the last push"},
		},
		"our own": {
			scm.Rules{Approvals: 1},
			promotion.Open{Void: []promotion.Void{{By: "bot", Why: "it is promoter's own", Own: true}, {By: "ben", Why: "it is a bot's"}}},
			promotion.Condition{
				Name: "protection approvals", State: promotion.Pending, Value: "0 of 1",
				Reason: "main requires 1 approval; the approval of bot does not count: it is promoter's own",
			},
		},
		"not reported": {
			scm.Rules{Checks: []string{"ci", "promoter", "ci"}},
			promotion.Open{Checks: []promotion.Check{promotiontest.Check("lint", promotion.Passed)}},
			promotion.Condition{Name: "protection check ci", State: promotion.Pending, Reason: notReported},
		},
		"not readable": {
			scm.Rules{Checks: []string{"ci"}},
			promotion.Open{Blind: true},
			promotion.Condition{Name: "protection check ci", State: promotion.Passed, Reason: "unknown: the credential cannot read all checks, so the forge decides"},
		},
		"running": {
			scm.Rules{Checks: []string{"ci"}},
			promotion.Open{Checks: []promotion.Check{promotiontest.Check("ci", promotion.Pending)}},
			promotion.Condition{Name: "protection check ci", State: promotion.Pending, Reason: "ci has not finished"},
		},
		"failed": {
			scm.Rules{Checks: []string{"ci"}},
			promotion.Open{Blind: true, Checks: []promotion.Check{promotiontest.Check("ci", promotion.Failed)}},
			promotion.Condition{Name: "protection check ci", State: promotion.Failed, Reason: "ci failed"},
		},
		"queue": {
			scm.Rules{Queue: true},
			promotion.Open{},
			promotion.Condition{
				Name: "merge queue", State: promotion.Blocked,
				Reason: "main accepts changes only through its merge queue: allow promoter to bypass it, or set land: pr and add the pull request to the queue",
			},
		},
		"unsigned": {
			scm.Rules{Signed: true, Linear: true, Stuck: "allow squash merges"},
			promotion.Open{},
			promotion.Condition{Name: "signed commits", State: promotion.Blocked, Reason: "allow squash merges"},
		},
		"not linear": {
			scm.Rules{Linear: true, Stuck: "allow rebase merges"},
			promotion.Open{},
			promotion.Condition{Name: "linear history", State: promotion.Blocked, Reason: "allow rebase merges"},
		},
		"no method": {
			scm.Rules{Stuck: "allow one"},
			promotion.Open{},
			promotion.Condition{Name: "merge method", State: promotion.Blocked, Reason: "allow one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := protectedWorld(t, test.rules, test.open)
			test.want.Forge = true
			if diff := cmp.Diff([]promotion.Condition{test.want}, w.Decide("prod/shop").Gates); diff != "" {
				t.Error(diff)
			}
			p := proposetest.Only(w)
			if p.Land != (test.want.State == promotion.Passed) {
				t.Errorf("lands: %v", p.Land)
			}
			if status := pullrequest.StatusOf(p); status.State != scm.CheckPassed {
				t.Errorf("the forge would wait for itself: %+v", status)
			}
		})
	}
}

// Where users merge, or protection is unknown, the forge informs the user.
func TestProtection_notLookedUp(t *testing.T) {
	t.Parallel()
	w := protectedWorld(t, scm.Rules{}, promotion.Open{})
	if gates := w.Decide("prod/shop").Gates; len(gates) != 0 || !proposetest.Only(w).Land {
		t.Errorf("%+v", gates)
	}
	w = decidetest.Gated(t, promotion.Open{Number: 7})
	before := len(w.Decide("prod/shop").Gates)
	w.Protected = map[string]promotion.Protection{"other": {Branch: "other", Rules: scm.Rules{Queue: true}}}
	if gates := w.Decide("prod/shop").Gates; len(gates) != before {
		t.Errorf("%+v", gates)
	}
}

func refusal(rule, words string, ago, changed time.Duration) *promotion.Refusal {
	open := promotion.Open{Changed: promotiontest.Noon.Add(-changed), Fingerprint: "1a2b3c4d"}
	made := pullrequest.NewRefusal(rule, words, promotiontest.Noon.Add(-ago), open)
	return &made
}

// A refused merge is not tried again before some time is over, as long as the head
// had stood still before.
func TestProtection_refused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ago, changed time.Duration
		land         bool
	}{
		{time.Minute, time.Minute, false},
		{4 * time.Minute, 5 * time.Minute, false},
		{5 * time.Minute, 5 * time.Minute, true},
		{time.Hour, 3 * time.Hour, false},
		{2 * time.Hour, 4 * time.Hour, true},
		{23 * time.Hour, 1000 * time.Hour, false},
		{24 * time.Hour, 1000 * time.Hour, true},
	} {
		w := protectedWorld(t, scm.Rules{}, promotion.Open{Refused: refusal("", "No.", test.ago, test.changed)})
		p := proposetest.Only(w)
		if p.Land != test.land {
			t.Errorf("refused %s ago, changed %s ago: lands %v", test.ago, test.changed, p.Land)
		}
		gate := promotiontest.GateNamed(t, p.Gates, "merge")
		if gate.State != promotion.Blocked || gate.Reason != "the forge refused the merge: No." || gate.Until == nil {
			t.Errorf("%+v", gate)
		}
		read, refused := pullrequest.ParseRefusal(pullrequest.StatusOf(p).Description, promotiontest.Noon.Add(-test.changed))
		if !refused || read != *p.Open.Refused {
			t.Errorf("the status says %q, read as %+v", pullrequest.StatusOf(p).Description, read)
		}
		body := pullrequest.Body(pullrequest.Page{Proposal: p})
		read, refused = pullrequest.ParseRefusal(pullrequest.RefusalInBody("Mine\n"+body, p.Open.Commit), promotiontest.Noon.Add(-test.changed))
		if !refused || read != *p.Open.Refused || pullrequest.RefusalInBody(body, "0000") != "" || pullrequest.RefusalInBody(strings.ReplaceAll(body, "promoter:begin", ""), p.Open.Commit) != "" {
			t.Errorf("the body is read as %+v:\n%s", read, body)
		}
	}
}

// Where the forge requires a check from one app, the results of others neither pass nor fail.
func TestProtection_checkOfOneApp(t *testing.T) {
	t.Parallel()
	passed, failed := promotion.Passed, promotion.Failed
	for name, test := range map[string]struct {
		state   promotion.ConditionState
		sources map[string]promotion.ConditionState
		want    promotion.ConditionState
	}{
		"another app":                 {passed, map[string]promotion.ConditionState{"8": passed}, promotion.Pending},
		"it passed":                   {passed, map[string]promotion.ConditionState{"7": passed}, passed},
		"it passed, another failed":   {failed, map[string]promotion.ConditionState{"7": passed, "8": failed}, passed},
		"it failed, another passed":   {failed, map[string]promotion.ConditionState{"7": failed, "8": passed}, failed},
		"an app that GitHub hides":    {passed, map[string]promotion.ConditionState{"": passed, "8": failed}, passed},
		"the forge reports no source": {passed, nil, passed},
	} {
		rules := scm.Rules{Checks: []string{"ci"}, Sources: map[string]string{"ci": "7"}}
		w := protectedWorld(t, rules, promotion.Open{Checks: []promotion.Check{{Name: "ci", State: test.state, Sources: test.sources}}})
		if gate := promotiontest.GateNamed(t, proposetest.Only(w).Gates, "protection check ci"); gate.State != test.want {
			t.Errorf("%s: %+v", name, gate)
		}
	}
}

// A rule that is known stands once, with its advice.
func TestProtection_refusedByRule(t *testing.T) {
	t.Parallel()
	for rule, advice := range map[string]string{scm.RuleQueue: "bypass the queue", scm.RuleSigned: "squash", scm.RuleLinear: "rebase"} {
		w := protectedWorld(t, scm.Rules{}, promotion.Open{Refused: refusal(rule, "No.", 0, time.Hour)})
		if gate := promotiontest.GateNamed(t, proposetest.Only(w).Gates, rule); !strings.Contains(gate.Reason, advice) {
			t.Errorf("%+v", gate)
		}
	}
	w := protectedWorld(t, scm.Rules{Hidden: "more is asked"}, promotion.Open{Refused: refusal("", "No.", 0, time.Hour)})
	if gate := promotiontest.GateNamed(t, proposetest.Only(w).Gates, "merge"); gate.Reason != "the forge refused the merge: No.; more is asked" {
		t.Errorf("%+v", gate)
	}
	w = protectedWorld(t, scm.Rules{Queue: true}, promotion.Open{Refused: refusal(scm.RuleQueue, "No.", 0, time.Hour)})
	if gates := proposetest.Only(w).Gates; len(gates) != 1 || gates[0].Until != nil {
		t.Errorf("%+v", gates)
	}
}

// FuzzParseRefusal: whatever a status says is read without harm, and what is read is
// said again in the same words.
func FuzzParseRefusal(f *testing.F) {
	for _, seed := range []string{
		"refused 2026-11-18 11:00 UTC: No.", "refused 2026-11-18 11:00 UTC, merge queue: No: no.", "refused 2026-11-18 11:00 UTC: No. [1a2b3c4d]", "refused 2026-11-18 11:00 UTC:  [1a2b3c4d]", "refused 2026-11-18 11:00 UTC, other: No.",
		"refused 2026-13-18 11:00 UTC: No.", "refused ", "ready to merge", "refused 2026-11-18 11:00 UTC: ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, description string) {
		read, refused := pullrequest.ParseRefusal(description, promotiontest.Noon)
		if !refused {
			return
		}
		open := promotion.Open{Changed: promotiontest.Noon, Fingerprint: read.Fingerprint}
		again := pullrequest.NewRefusal(read.Rule, read.Words, read.At, open)
		if once := pullrequest.NewRefusal(again.Rule, again.Words, again.At, open); once != again {
			t.Errorf("%q: %+v, then %+v", description, again, once)
		}
	})
}
