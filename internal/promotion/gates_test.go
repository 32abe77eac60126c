package promotion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
)

// allGates is one environment with every gate.
const allGates = components + `
windows:
  office: {kind: allow, schedule: "0 9 * * 1-5", duration: 8h, timeZone: Europe/Berlin}
  lunch: {kind: deny, schedule: "0 12 * * *", duration: 1h, timeZone: Europe/Berlin}
environments:
  prod:
    paths: ["prod/{application}"]
    land: automerge
    gates: {windows: [office, lunch], checks: ["ci/*", lint], approvals: {count: 2, from: ["team:acme/sre", eve]}}
`

// gatedWorld has a newer web in prod and its open pull request.
func gatedWorld(t *testing.T, open promotion.Open) *world {
	t.Helper()
	w := newWorld(t, allGates).forge()
	w.has("prod/shop", "web:1.4")
	w.offers("web:1.5@" + digestB)
	if open.Number > 0 {
		open.Head = "promoter/prod/shop"
		open.Snapshots = map[string]promotion.Snapshot{"shop": snapshotOf("web:1.5@" + digestB)}
		w.Open[open.Head] = open
	}
	return w
}

func check(name string, state promotion.ConditionState) promotion.Check {
	return promotion.Check{Name: name, State: state}
}

func gateNamed(t *testing.T, gates []promotion.Condition, name string) promotion.Condition {
	t.Helper()
	for _, gate := range gates {
		if gate.Name == name {
			return gate
		}
	}
	t.Fatalf("no gate %q in %v", name, gates)
	return promotion.Condition{}
}

func TestGates_checks(t *testing.T) {
	t.Parallel()
	many := make([]promotion.Check, 0, 151)
	for range 150 {
		many = append(many, check("ci/job", promotion.Passed))
	}
	tests := []struct {
		name   string
		checks []promotion.Check
		want   promotion.Condition
	}{
		{"absent", nil, promotion.Condition{State: promotion.Pending, Reason: "not reported yet"}},
		{"others only", []promotion.Check{check("lint", promotion.Failed)}, promotion.Condition{State: promotion.Pending, Reason: "not reported yet"}},
		{"our own", []promotion.Check{check("promoter", promotion.Passed)}, promotion.Condition{State: promotion.Pending, Reason: "not reported yet"}},
		{"pending", []promotion.Check{check("ci/a", promotion.Pending)}, promotion.Condition{State: promotion.Pending, Reason: "ci/a has not finished"}},
		{"failed", []promotion.Check{check("ci/a", promotion.Failed)}, promotion.Condition{State: promotion.Failed, Reason: "ci/a failed"}},
		{
			"failed beside pending",
			[]promotion.Check{check("ci/c", promotion.Pending), check("ci/b", promotion.Failed), check("ci/a", promotion.Failed)},
			promotion.Condition{State: promotion.Failed, Reason: "ci/a failed", Value: "0 of 3 passed"},
		},
		{"passed", []promotion.Check{check("ci/a", promotion.Passed), check("ci/b", promotion.Passed)}, promotion.Condition{State: promotion.Passed, Value: "2 of 2 passed"}},
		{
			"the last of many", append(many, check("ci/z", promotion.Failed)),
			promotion.Condition{State: promotion.Failed, Reason: "ci/z failed", Value: "150 of 151 passed"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := gatedWorld(t, promotion.Open{Number: 7, Checks: test.checks})
			test.want.Name = "check ci/*"
			got := gateNamed(t, w.decide("prod/shop").Gates, "check ci/*")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A pattern that our own status fits does not look at it.
func TestGates_ownStatusNeverCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, components+`
environments:
  prod: {paths: ["prod/{application}"], gates: {checks: ["*"]}}
`).forge()
	w.has("prod/shop", "web:1.4")
	w.offers("web:1.5@" + digestB)
	open := w.opened("promoter/prod/shop", 7, nil)
	open.Checks = []promotion.Check{check("promoter", promotion.Pending), check("ci", promotion.Passed)}
	w.Open[open.Head] = open
	want := promotion.Condition{Name: "check *", State: promotion.Passed}
	if diff := cmp.Diff([]promotion.Condition{want}, w.decide("prod/shop").Gates); diff != "" {
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
				Reason: "not approved yet by team:acme/sre or eve; that of ada does not count: they asked for this promotion",
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
			w := gatedWorld(t, promotion.Open{Number: 7, Approvals: test.approvals, Objections: test.objections})
			if test.asker != "" {
				w.asks("prod/shop", test.asker)
			}
			test.want.Name = "approvals"
			got := gateNamed(t, w.decide("prod/shop").Gates, "approvals")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where no approval is wanted, somebody who asks for changes still is heard.
func TestGates_objectionWithoutApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain).forge()
	w.has("dev/shop", "web:1.4")
	w.offers("web:1.5@" + digestB)
	open := w.opened("promoter/dev/shop", 7, nil)
	open.Objections = []string{"dan"}
	w.Open[open.Head] = open
	want := promotion.Condition{Name: "approvals", State: promotion.Pending, Reason: "changes requested by dan"}
	if diff := cmp.Diff([]promotion.Condition{want}, w.decide("dev/shop").Gates); diff != "" {
		t.Error(diff)
	}
}

func TestGates_noPullRequestYet(t *testing.T) {
	t.Parallel()
	d := gatedWorld(t, promotion.Open{}).decide("prod/shop")
	if d.State != promotion.Proposed {
		t.Fatalf("%s: %s: a gate blocks proposing", d.State, d.Reason)
	}
	for _, name := range []string{"check ci/*", "check lint", "approvals"} {
		if gate := gateNamed(t, d.Gates, name); gate.State != promotion.Pending || gate.Reason != "no pull request yet" {
			t.Errorf("%+v", gate)
		}
	}
}

// What a pull request is opened with is what the next pass finds on it.
func TestGates_openedSaysWhatTheNextPassFinds(t *testing.T) {
	t.Parallel()
	before, after := gatedWorld(t, promotion.Open{}), gatedWorld(t, promotion.Open{Number: 7})
	opened := promotion.Opened(before.arrange()[0])
	if diff := cmp.Diff(after.decide("prod/shop").Gates, opened.Gates); diff != "" {
		t.Error(diff)
	}
	if gate := gateNamed(t, before.decide("prod/shop").Gates, "approvals"); gate.Reason != "no pull request yet" {
		t.Errorf("the decision was changed: %+v", gate)
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
		{"denied", noon, promotion.Pending, noon.Add(time.Hour)},
		{"end is exclusive", noon.Add(time.Hour), promotion.Passed, noon.Add(5 * time.Hour)},
		{"closed", noon.Add(5 * time.Hour), promotion.Pending, noon.Add(21 * time.Hour)},
		{"start is inclusive", noon.Add(21 * time.Hour), promotion.Passed, noon.Add(24 * time.Hour)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := gatedWorld(t, promotion.Open{Number: 7})
			decisions := promotion.Plan(w.Observation, test.at)
			gate := gateNamed(t, decisions[0].Gates, "windows office, lunch")
			if gate.State != test.state || gate.Until == nil || !gate.Until.Equal(test.until) {
				t.Errorf("%+v until %v, want %s until %v", gate, gate.Until, test.state, test.until)
			}
		})
	}
}

// What is pushed is gated by windows alone, and a draft is not merged.
func TestGates_byTheWayOfLanding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, components+`
windows: {always: {kind: allow, schedule: "* * * * *", duration: 1h}}
environments:
  dev: {paths: ["dev/{application}"], land: push, gates: {windows: [always]}}
`).forge()
	w.has("dev/shop", "web:1.4")
	w.offers("web:1.5@" + digestB)
	if gates := w.decide("dev/shop").Gates; len(gates) != 1 || gates[0].Name != "windows always" {
		t.Errorf("%+v", gates)
	}

	w = gatedWorld(t, promotion.Open{Number: 7, Draft: true})
	if gate := gateNamed(t, w.decide("prod/shop").Gates, "draft"); gate.State != promotion.Pending {
		t.Errorf("%+v", gate)
	}
}
