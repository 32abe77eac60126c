package decide_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/edit"
	"promoter/internal/identity"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

func TestGates_checks(t *testing.T) {
	t.Parallel()
	many := make([]promotion.Check, 0, 151)
	for i := range 150 {
		many = append(many, promotiontest.Check(fmt.Sprintf("ci/job%d", i), promotion.Passed))
	}
	tests := []struct {
		name   string
		checks []promotion.Check
		want   promotion.Condition
	}{
		{"absent", nil, promotion.Condition{State: promotion.Pending, Reason: "not reported yet"}},
		{"others only", []promotion.Check{promotiontest.Check("lint", promotion.Failed)}, promotion.Condition{State: promotion.Pending, Reason: "not reported yet"}},
		{"our own", []promotion.Check{promotiontest.Check("promoter", promotion.Passed)}, promotion.Condition{State: promotion.Pending, Reason: "not reported yet"}},
		{"pending", []promotion.Check{promotiontest.Check("ci/a", promotion.Pending)}, promotion.Condition{State: promotion.Pending, Reason: "ci/a has not finished"}},
		{"failed", []promotion.Check{promotiontest.Check("ci/a", promotion.Failed)}, promotion.Condition{State: promotion.Failed, Reason: "ci/a failed"}},
		{
			"failed beside pending",
			[]promotion.Check{promotiontest.Check("ci/c", promotion.Pending), promotiontest.Check("ci/b", promotion.Failed), promotiontest.Check("ci/a", promotion.Failed)},
			promotion.Condition{State: promotion.Failed, Reason: "ci/a failed", Value: "0 of 3 passed"},
		},
		{"passed", []promotion.Check{promotiontest.Check("ci/a", promotion.Passed), promotiontest.Check("ci/b", promotion.Passed)}, promotion.Condition{State: promotion.Passed, Value: "2 of 2 passed"}},
		{
			"the last of many", append(many, promotiontest.Check("ci/z", promotion.Failed)),
			promotion.Condition{State: promotion.Failed, Reason: "ci/z failed", Value: "150 of 151 passed"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.Gated(t, promotion.Open{Number: 7, Checks: test.checks})
			test.want.Name = "check ci/*"
			got := promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "check ci/*")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A check has some minutes to start, from the push of the head or the opening of the pull request.
func TestGates_checkThatDoesNotStart(t *testing.T) {
	t.Parallel()
	now := promotiontest.Noon
	running := []promotion.Check{promotiontest.Check("ci/a", promotion.Pending)}
	for name, test := range map[string]struct {
		open promotion.Open
		want promotion.ConditionState
		due  time.Time
	}{
		"just pushed":             {promotion.Open{Pushed: now.Add(-time.Minute)}, promotion.Pending, now.Add(14 * time.Minute)},
		"one second is left":      {promotion.Open{Pushed: now.Add(time.Second - 15*time.Minute)}, promotion.Pending, now.Add(time.Second)},
		"overdue":                 {promotion.Open{Pushed: now.Add(-15 * time.Minute)}, promotion.Blocked, time.Time{}},
		"opened later":            {promotion.Open{Pushed: now.Add(-time.Hour), Opened: now.Add(-time.Minute)}, promotion.Pending, now.Add(14 * time.Minute)},
		"it runs":                 {promotion.Open{Pushed: now.Add(-time.Hour), Checks: running}, promotion.Pending, time.Time{}},
		"the push is not known":   {promotion.Open{Opened: now.Add(-time.Hour)}, promotion.Pending, time.Time{}},
		"checks are not readable": {promotion.Open{Pushed: now.Add(-time.Hour), Blind: true}, promotion.Pending, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.open.Number = 7
			got := promotiontest.GateNamed(t, decidetest.Gated(t, test.open).Decide("prod/shop").Gates, "check ci/*")
			if got.State != test.want || !got.Overdue.Equal(test.due) || (got.Obstacle != nil) != (test.want == promotion.Blocked) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A pattern that matches promoter's own status ignores it.
func TestGates_ignoreOwnStatus(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  prod: {paths: ["prod/{application}"], gates: {checks: ["*"]}}
`).WithForge()
	w.Has("prod/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	open := w.OpenPullRequest("promoter/prod/shop", 7, nil)
	open.Checks = []promotion.Check{promotiontest.Check("promoter", promotion.Pending), promotiontest.Check("ci", promotion.Passed)}
	w.Open[open.Head] = open
	want := promotion.Condition{Name: "check *", State: promotion.Passed}
	if diff := cmp.Diff([]promotion.Condition{want}, w.Decide("prod/shop").Gates); diff != "" {
		t.Error(diff)
	}
}

func TestGates_approvals(t *testing.T) {
	t.Parallel()
	sre := func(by string) promotion.Approval {
		return promotion.Approval{By: by, Teams: []string{"acme/sre"}}
	}
	tests := []struct {
		name       string
		approvals  []promotion.Approval
		objections []string
		asker      string
		want       promotion.Condition
	}{
		{
			"lookalikes of one user",
			[]promotion.Approval{{By: "eve"}, {By: "ev\u0435"}, {By: "\u212aim", Teams: []string{"acme/\u017fre"}}},
			nil, "",
			promotion.Condition{State: promotion.Pending, Value: "1 of 2", Reason: "not approved yet by team:acme/sre or eve"},
		},
		{
			"one account under two logins",
			[]promotion.Approval{{By: "ada", ID: "7", Teams: []string{"acme/sre"}}, {By: "adah", ID: "7", Teams: []string{"acme/sre"}}},
			nil, "",
			promotion.Condition{State: promotion.Pending, Value: "1 of 2", Reason: "not approved yet by team:acme/sre or eve"},
		},
		{
			"none", nil, nil, "",
			promotion.Condition{State: promotion.Pending, Value: "0 of 2", Reason: "not approved yet by team:acme/sre or eve"},
		},
		{
			"same person once",
			[]promotion.Approval{sre("ada"), sre("Ada")},
			nil, "",
			promotion.Condition{State: promotion.Pending, Value: "1 of 2", Reason: "not approved yet by team:acme/sre or eve"},
		},
		{
			"not of the team",
			[]promotion.Approval{sre("ada"), {By: "bob", Teams: []string{"acme/web"}}},
			nil, "",
			promotion.Condition{State: promotion.Pending, Value: "1 of 2", Reason: "not approved yet by team:acme/sre or eve"},
		},
		{
			"whoever asked",
			[]promotion.Approval{sre("ada"), sre("bob")},
			nil, "ADA",
			promotion.Condition{
				State: promotion.Pending, Value: "1 of 2",
				Reason: "not approved yet by team:acme/sre or eve; the approval of ada does not count: they requested this promotion",
			},
		},
		{"enough", []promotion.Approval{sre("ada"), {By: "Eve"}}, nil, "", promotion.Condition{State: promotion.Passed, Value: "2 of 2"}},
		{
			"objected",
			[]promotion.Approval{sre("ada"), sre("bob")},
			[]string{"mallory", "dan"},
			"",
			promotion.Condition{State: promotion.Pending, Value: "2 of 2", Reason: "changes requested by dan, mallory"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.Gated(t, promotion.Open{Number: 7, Approvals: test.approvals, Objections: test.objections})
			if test.asker != "" {
				w.Request("prod/shop", test.asker)
			}
			test.want.Name = "approvals"
			got := promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "approvals")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A user who renames the account after a request, or whose old login another user registers, does
// not become two users.
func TestGates_requesterWithAnotherLogin(t *testing.T) {
	t.Parallel()
	request := func(by identity.User) state.Request {
		act := promotiontest.ActOf(by.Login)
		act.By.ID = by.ID
		return state.Request{Act: act}
	}
	for name, test := range map[string]struct {
		requester identity.User
		approval  promotion.Approval
		counts    bool
	}{
		"renamed since":                {identity.User{Login: "ada", ID: "7"}, promotion.Approval{By: "adah", ID: "7"}, false},
		"the login of another now":     {identity.User{Login: "ada", ID: "7"}, promotion.Approval{By: "ada", ID: "8"}, false},
		"an account without an ID":     {identity.User{Login: "ada"}, promotion.Approval{By: "ADA", ID: "7"}, false},
		"another user":                 {identity.User{Login: "ada", ID: "7"}, promotion.Approval{By: "bob", ID: "8"}, true},
		"another user, both unknown":   {identity.User{Login: "ada"}, promotion.Approval{By: "bob"}, true},
		"a lookalike of the requester": {identity.User{Login: "kris", ID: "7"}, promotion.Approval{By: "\u212aris", ID: "8"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.approval.Teams = []string{"acme/sre"}
			w := decidetest.Gated(t, promotion.Open{Number: 7, Approvals: []promotion.Approval{test.approval}})
			w.ChangeState(state.AddRequest(state.Target(w.Target("prod/shop")), request(test.requester)))
			want := "0 of 2"
			if test.counts {
				want = "1 of 2"
			}
			got := promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "approvals")
			if got.Value != want || strings.Contains(got.Reason, "they requested this promotion") == test.counts {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A request for changes counts also where no approval is required.
func TestGates_objectionWithoutApprovals(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, decidetest.Chain).WithForge()
	w.Has("dev/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	open := w.OpenPullRequest("promoter/dev/shop", 7, nil)
	open.Objections = []string{"dan"}
	w.Open[open.Head] = open
	want := promotion.Condition{Name: "approvals", State: promotion.Pending, Reason: "changes requested by dan"}
	if diff := cmp.Diff([]promotion.Condition{want}, w.Decide("dev/shop").Gates); diff != "" {
		t.Error(diff)
	}
}

func TestGates_noPullRequestYet(t *testing.T) {
	t.Parallel()
	d := decidetest.Gated(t, promotion.Open{}).Decide("prod/shop")
	if d.State != promotion.Proposed {
		t.Fatalf("%s: %s: a gate blocks proposing", d.State, d.Reason)
	}
	for _, name := range []string{"check ci/*", "check lint", "approvals"} {
		if gate := promotiontest.GateNamed(t, d.Gates, name); gate.State != promotion.Pending || gate.Reason != "no pull request yet" {
			t.Errorf("%+v", gate)
		}
	}
}

// The windows of both kinds count as one: noon in Berlin is inside office and
// inside the lunch that denies.
func TestGates_denyOverAllow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		at    time.Time
		state promotion.ConditionState
		until time.Time
	}{
		{"denied", promotiontest.Noon, promotion.Pending, promotiontest.Noon.Add(time.Hour)},
		{"end is exclusive", promotiontest.Noon.Add(time.Hour), promotion.Passed, promotiontest.Noon.Add(5 * time.Hour)},
		{"closed", promotiontest.Noon.Add(5 * time.Hour), promotion.Pending, promotiontest.Noon.Add(21 * time.Hour)},
		{"start is inclusive", promotiontest.Noon.Add(21 * time.Hour), promotion.Passed, promotiontest.Noon.Add(24 * time.Hour)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.Gated(t, promotion.Open{Number: 7})
			decisions := w.Plan(test.at)
			gate := promotiontest.GateNamed(t, decisions[0].Gates, "windows office, lunch")
			if gate.State != test.state || gate.Until == nil || !gate.Until.Equal(test.until) {
				t.Errorf("%+v until %v, want %s until %v", gate, gate.Until, test.state, test.until)
			}
		})
	}
}

// What is pushed is gated by windows alone, and a draft is not merged.
func TestGates_byLandMode(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
windows: {always: {kind: allow, schedule: "* * * * *", duration: 1h}}
environments:
  dev: {paths: ["dev/{application}"], land: push, gates: {windows: [always]}}
`).WithForge()
	w.Has("dev/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	if gates := w.Decide("dev/shop").Gates; len(gates) != 1 || gates[0].Name != "windows always" {
		t.Errorf("%+v", gates)
	}

	w = decidetest.Gated(t, promotion.Open{Number: 7, Draft: true})
	if gate := promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "draft"); gate.State != promotion.Pending {
		t.Errorf("%+v", gate)
	}
}

// A file on hold keeps a pull request from being opened and merged, also for a request.
func TestGates_hold(t *testing.T) {
	t.Parallel()
	world := func(t *testing.T, hold bool) *decidetest.Scenario {
		t.Helper()
		w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  prod: {paths: ["prod/{application}"], land: automerge, gates: {hold: {key: spec.suspend, value: "true"}}}
`).WithForge()
		w.Has("prod/shop", "web:1.4")
		w.Has("prod/other", "web:1.4")
		w.Publish("web:1.5@" + promotiontest.DigestB)
		has := func(target, value string) {
			current := w.Targets[w.Target(target)]
			current.Holds = []edit.Hold{{Position: edit.Position{File: target + "/settings.yaml", Line: 3}, Key: "spec.suspend", Value: value}}
			w.Targets[w.Target(target)] = current
		}
		has("prod/other", "false")
		has("prod/shop", strconv.FormatBool(hold))
		return w
	}
	const held = "gate hold: prod/shop/settings.yaml:3 has spec.suspend: true"

	t.Run("stops the application", func(t *testing.T) {
		t.Parallel()
		w := world(t, true)
		w.Expect("prod/shop", promotion.Waiting, held)
		w.Expect("prod/other", promotion.Proposed, "newer: web 1.4 -> 1.5")
		want := promotion.Condition{Name: "hold spec.suspend", State: promotion.Blocked, Reason: "prod/shop/settings.yaml:3 has spec.suspend: true"}
		if diff := cmp.Diff(want, promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "hold spec.suspend")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("passes", func(t *testing.T) {
		t.Parallel()
		w := world(t, false)
		w.Expect("prod/shop", promotion.Proposed, "newer: web 1.4 -> 1.5")
		if gate := promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "hold spec.suspend"); gate.State != promotion.Passed {
			t.Errorf("%+v", gate)
		}
	})
	t.Run("is in no file", func(t *testing.T) {
		t.Parallel()
		w := world(t, false)
		current := w.Targets[w.Target("prod/shop")]
		current.Holds = nil
		w.Targets[w.Target("prod/shop")] = current
		const why = "no file of shop in prod has spec.suspend: add the key, or set gates.hold.absent to pass"
		w.Expect("prod/shop", promotion.Waiting, "gate hold: "+why)
		w.Expect("prod/other", promotion.Proposed, "newer: web 1.4 -> 1.5")
		if gate := promotiontest.GateNamed(t, w.Decide("prod/shop").Gates, "hold spec.suspend"); gate.State != promotion.Blocked || gate.Reason != why {
			t.Errorf("%+v", gate)
		}
	})
	t.Run("keeps what is open", func(t *testing.T) {
		t.Parallel()
		w := world(t, true)
		open := w.OpenPullRequest("promoter/prod/shop", 7, nil)
		open.Snapshots = map[string]promotion.Snapshot{"shop": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)}
		w.Open[open.Head] = open
		d := w.Decide("prod/shop")
		if d.State != promotion.Waiting || d.Disposition == nil || d.Disposition.Close || d.Disposition.Reason.Message != held {
			t.Errorf("%s, %+v", d.State, d.Disposition)
		}
	})
	t.Run("stops a request", func(t *testing.T) {
		t.Parallel()
		w := world(t, true)
		w.Request("prod/shop", "ada")
		w.Expect("prod/shop", promotion.Waiting, held)
	})
	t.Run("nothing is pending", func(t *testing.T) {
		t.Parallel()
		w := world(t, true)
		w.Publish("web:1.4")
		w.Expect("prod/shop", promotion.Same, "already up to date")
	})
}

// The rules of a branch are read where something is merged into it, which another application may be the
// cause of: they are gates of what is proposed alone, so that no decision depends on another application.
func TestGates_rulesOfTheForgeAreThoseOfProposals(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"proposed": false, "on hold": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  prod: {paths: ["prod/{application}"], land: automerge}
`).WithForge()
			w.Has("prod/shop", "web:1.4")
			w.Publish("web:1.5@" + promotiontest.DigestB)
			if held {
				w.Decides(state.Hold(state.Target{Environment: "prod", Application: "shop"}, promotiontest.ByAda("")))
			}
			w.Protected = map[string]promotion.Protection{"": {Branch: "main", Rules: scm.Rules{Queue: true}}}
			read := w.Decide("prod/shop").Gates
			w.Protected = nil
			unread := w.Decide("prod/shop").Gates
			if diff := cmp.Diff(read, unread); (diff == "") != held {
				t.Errorf("gates with and without the rules:\n%s", diff)
			}
		})
	}
}
