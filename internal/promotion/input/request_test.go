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
			w.Bypasses = map[promotion.Target]promotion.Bypass{target("dev/shop"): test.checked}
			if !test.request.At.IsZero() {
				w.decides(state.AddRequest(state.Target(target("dev/shop")), test.request))
			}
			var taken input.Reads
			in := input.New(input.NewIndex(w.Observation), target("dev/shop"), promotiontest.Noon, &taken)
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
