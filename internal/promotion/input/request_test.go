package input_test

import (
	"testing"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// bypassTest is a gate that blocks moves, and the request of a user to bypass it.
type bypassTest struct {
	name      string
	change    func(*bypassTest)
	request   state.Request
	checked   promotion.Bypass
	condition promotion.Condition
	moves     []promotion.Move
	checkout  bool
	want      string
	reads     bool // the forge
}

// A request passes a condition that blocks its moves if it bypasses that, and if its user is permitted
// to. Whether they are is read again each time.
func TestBypass(t *testing.T) {
	t.Parallel()
	const (
		byAda      = "passed: bypassed by ada: incident; closed"
		blocked    = "waiting: closed"
		notChecked = "waiting: closed; not bypassed by ada: it was not checked"
	)
	tests := []bypassTest{
		{name: "permitted", change: func(*bypassTest) {}, want: byAda, reads: true},
		{
			name: "refused", want: "waiting: closed; not bypassed by ada: no admin", reads: true,
			change: func(b *bypassTest) { b.checked.Refused = map[string]string{verb.BypassWindows: "no admin"} },
		},
		{name: "not checked", change: func(b *bypassTest) { b.checked = promotion.Bypass{} }, want: notChecked, reads: true},
		{name: "another one was checked", change: func(b *bypassTest) { b.checked.Request.By.Login = "eve" }, want: notChecked, reads: true},
		{name: "no request", change: func(b *bypassTest) { b.request = state.Request{} }, want: blocked},
		{
			name: "a request that bypasses something else", want: blocked,
			change: func(b *bypassTest) { b.request.Bypass = []string{verb.BypassChecks} },
		},
		{name: "a request for another snapshot", change: func(b *bypassTest) { b.request.Snapshot = "another" }, want: blocked},
		{name: "the condition passes", change: func(b *bypassTest) { b.condition.State = promotion.Passed }, want: "passed: closed"},
		{name: "nothing moves", change: func(b *bypassTest) { b.moves = nil }, want: blocked},
		{name: "in a checkout", change: func(b *bypassTest) { b.checkout = true }, want: blocked},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.request = state.Request{Act: promotiontest.ByAda("incident"), Bypass: []string{verb.BypassWindows}}
			test.checked.Request = test.request
			test.condition = promotion.Condition{State: promotion.Pending, Reason: "closed"}
			test.moves = []promotion.Move{{Component: "web", To: promotiontest.Version("1.5.0")}}
			test.change(&test)
			w := newScenario(t, chain)
			w.has("dev/shop", "web:1.4.0")
			w.Checkout = test.checkout
			w.Bypasses = map[promotion.Target][]promotion.Bypass{target("dev/shop"): {test.checked}}
			if !test.request.At.IsZero() {
				w.decides(state.AddRequest(state.Target(target("dev/shop")), test.request))
			}
			var taken input.Reads
			in := input.New(input.NewIndex(t.Context(), w.Observation), target("dev/shop"), promotiontest.Noon, &taken)
			got := test.condition
			input.Bypass(in, &got, verb.BypassWindows, test.moves)
			if text := string(got.State) + ": " + got.Reason; text != test.want || got.Bypassed != (test.want == byAda) {
				t.Errorf("%s, bypassed %t, want %s", text, got.Bypassed, test.want)
			}
			if taken.Has(input.Forge) != test.reads {
				t.Errorf("reads %s", taken)
			}
		})
	}
}

// A request for all applications of an environment applies to each; versions are requested for one. A
// request whose snapshot landed is done.
func TestNew_requestThatApplies(t *testing.T) {
	t.Parallel()
	shop := state.Target(target("dev/shop"))
	all := state.Target{Environment: "dev", Application: state.All}
	bound := snapshotOf("web:1.5.0").ID()
	tests := []struct {
		name    string
		at      state.Target
		request state.Request
		want    string // requested or fulfilled; empty: neither
	}{
		{"for the target", shop, state.Request{}, "requested"},
		{"for versions", shop, state.Request{With: []string{"quay.io/acme/web:1.5.0"}}, "requested"},
		{"for all applications", all, state.Request{}, "requested"},
		{"for versions of all applications", all, state.Request{With: []string{"quay.io/acme/web:1.5.0"}}, ""},
		{"for a snapshot that landed", shop, state.Request{Snapshot: bound}, "fulfilled"},
		{"for a snapshot that did not land", shop, state.Request{Snapshot: snapshotOf("web:1.6.0").ID()}, "requested"},
		{"for another application", state.Target(target("dev/other")), state.Request{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newScenario(t, chain)
			w.has("dev/shop", "web:1.5.0")
			w.landed("dev/shop", landing("", 1, 0, "web:1.5.0"))
			test.request.Act = promotiontest.ByAda("")
			w.State = w.State.With(test.at, func(r *state.Record) { r.Request = &test.request })
			in, got := w.input("dev/shop"), ""
			if in.Request != nil {
				got = "requested"
			}
			if in.Fulfilled != nil {
				got += "fulfilled"
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A user requests one particular snapshot only where environments wait for requests.
func TestRequestsSnapshot(t *testing.T) {
	t.Parallel()
	bound := snapshotOf("web:1.6.0").ID()
	for _, test := range []struct {
		name, config string
		request      *state.Request
		want         bool
	}{
		{"bound", ", propose: manual", &state.Request{Snapshot: bound}, true},
		{"for versions that the user saw", ", propose: manual", &state.Request{For: promotiontest.Images("web:1.6.0")}, true},
		{"of named versions", ", propose: manual", &state.Request{With: []string{"web:1.6.0"}, For: promotiontest.Images("web:1.6.0")}, false},
		{"not bound", ", propose: manual", &state.Request{}, false},
		{"no request", ", propose: manual", nil, false},
		{"proposed anyway", "", &state.Request{Snapshot: bound}, false},
	} {
		w := newScenario(t, afterDev("soak: 1h", test.config))
		w.has("dev/shop", "web:1.5.0")
		w.State = w.State.With(state.Target(target("dev/shop")), func(r *state.Record) { r.Request = test.request })
		in := w.input("dev/shop")
		if got := input.RequestsSnapshot(in); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
		other := []promotion.Move{{Component: "web", To: versionOf("1.7.0")}}
		unbound := test.request != nil && test.request.Snapshot == "" && len(test.request.For) == 0
		if applies := input.RequestFor(in, other); (applies != nil) != unbound {
			t.Errorf("%s: the request %v applies to another snapshot", test.name, applies)
		}
	}
}
