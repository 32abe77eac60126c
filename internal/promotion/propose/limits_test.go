package propose_test

import (
	"testing"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"promoter/internal/config"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
)

// capped is one environment with settings, under a cap of the server.
func capped(t *testing.T, settings string, limit config.Limit) *decidetest.Scenario {
	t.Helper()
	w := decidetest.NewCheckout(t, promotiontest.Components+"environments:\n  prod: {paths: ['prod/{application}']"+settings+"}\n").WithForge()
	w.Has("prod/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	w.Limits = func(d promotion.Deployment) config.Limit {
		if d.Target != (promotion.Target{Environment: "prod", Application: "shop"}) || len(d.Files) != 1 {
			t.Errorf("asked about %v", d)
		}
		return limit
	}
	return w
}

func TestLimits_land(t *testing.T) {
	t.Parallel()
	push, automerge, pr := setting.LandPush, setting.LandAutomerge, setting.LandPR
	tests := []struct {
		name    string
		wanted  setting.Land
		limit   config.Limit
		want    setting.Land
		changed bool
	}{
		{"none", push, config.Limit{}, push, false},
		{"allowed", automerge, config.Limit{Land: []setting.Land{pr, automerge}}, automerge, false},
		{"the nearest", push, config.Limit{Land: []setting.Land{pr, automerge}}, automerge, true},
		{"the strictest", push, config.Limit{Land: []setting.Land{pr}}, pr, true},
		{"between", automerge, config.Limit{Land: []setting.Land{push, pr}}, pr, true},
		{"stricter than all", pr, config.Limit{Land: []setting.Land{push, automerge}}, pr, false},
		{"approvals need a pull request", push, config.Limit{Approvals: 1}, automerge, true},
		{"approvals without automerge", push, config.Limit{Land: []setting.Land{push, pr}, Approvals: 1}, pr, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := proposetest.Only(capped(t, ", land: "+string(test.wanted), test.limit))
			if p.Environment.Land != test.want {
				t.Errorf("land is %s, want %s", p.Environment.Land, test.want)
			}
			shown := len(p.Gates) > 0 && p.Gates[0].Name == "server limit" &&
				p.Gates[0].Reason == "the server does not allow land: "+string(test.wanted)
			if shown != test.changed {
				t.Errorf("gates %+v", p.Gates)
			}
		})
	}
}

// What may not be pushed is proposed, and the push never happens.
func TestLimits_pushBecomesPullRequest(t *testing.T) {
	t.Parallel()
	w := capped(t, ", land: push", config.Limit{Land: []setting.Land{setting.LandPR, setting.LandAutomerge}})
	expectOnly(w, propose.StepPropose, false, "newer: web 1.4 -> 1.5")
}

func TestLimits_propose(t *testing.T) {
	t.Parallel()
	manual := config.Limit{Propose: []setting.Propose{setting.ProposeManual, setting.ProposeNever}}
	d := capped(t, "", manual).Decide("prod/shop")
	if d.State != promotion.Waiting || d.Reason.Rule != promotion.RulePropose {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
	if gate := promotiontest.GateNamed(t, d.Gates, "server limit"); gate.Reason != "the server does not allow propose: automatic" || gate.Value != "propose: manual" {
		t.Errorf("%+v", gate)
	}
	w := capped(t, "", manual)
	w.Request("prod/shop", "ada")
	if p := proposetest.Only(w); p.Environment.Newer != setting.NewerQueue {
		t.Errorf("newer is %s: what was asked for would be replaced", p.Environment.Newer)
	}
}

func TestLimits_approvals(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, settings, value, reason string }{
		{"none in the config", "", "1 of 2", "not approved yet"},
		{"fewer", ", gates: {approvals: {count: 1, from: [ada]}}", "1 of 2", "not approved yet by ada"},
		{"more", ", gates: {approvals: {count: 3}}", "1 of 3", "not approved yet"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := capped(t, ", land: automerge"+test.settings, config.Limit{Approvals: 2})
			open := w.OpenPullRequest("promoter/prod/shop", 7, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
			open.Approvals = []promotion.Approval{{By: "ada"}}
			w.Open[open.Head] = open
			p := proposetest.Only(w)
			if gate := promotiontest.GateNamed(t, p.Gates, "approvals"); gate.Value != test.value || gate.Reason != test.reason || p.Land {
				t.Errorf("%+v, land %v", gate, p.Land)
			}
		})
	}
}

func TestPlan_plainGitHasNoPullRequests(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"pr", "automerge"} {
		w := capped(t, ", land: "+land, config.Limit{})
		w.PushOnly = true
		reason := "land is " + land + ", but this repository has no pull requests: it is plain Git, or they are disabled (write land: push)"
		w.Expect("prod/shop", promotion.Refused, reason)
		expectOnly(w, propose.StepWait, false, reason)
	}
	never := capped(t, ", propose: never", config.Limit{})
	never.PushOnly = true
	never.Expect("prod/shop", promotion.Waiting, "propose is never: the difference is only reported")
	w := capped(t, ", land: push", config.Limit{})
	w.PushOnly = true
	expectOnly(w, propose.StepPush, true, "newer: web 1.4 -> 1.5")
	w.Available["web"] = promotion.Available{Version: promotiontest.Version("1.4"), Found: true}
	w.Expect("prod/shop", promotion.Same, "already up to date")
}
