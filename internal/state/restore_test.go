package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/state"
)

// What tightens comes back, once, and what loosens does not.
func TestRestore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	act := func(reason string, at time.Time) state.Act {
		return state.Act{By: identity.User{Login: "ann"}, At: at, Reason: reason}
	}
	shop, blog := state.Target{Environment: "prod", Application: "shop"}, state.Target{Environment: "prod", Application: "blog"}
	over := now.Add(-time.Hour)
	apply := func(s state.State, changes ...state.Change) state.State {
		t.Helper()
		s, err := s.Apply(changes...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rejected := state.Rejection{Act: act("leaks", over), Images: map[string]string{"web": "quay.io/acme/web:1.5.0"}}
	lost := apply(state.State{},
		state.Hold(shop, act("incident", over)),
		state.Freeze("dev", act("holiday", over), nil),
		state.Freeze("staging", act("expired", over), &over),
		state.Reject(blog, rejected),
		state.AddRequest(state.Target{Environment: "test", Application: "shop"}, state.Request{Act: act("please", over)}),
	)
	current := apply(state.State{}, state.Hold(blog, act("another", now)))
	restored := apply(current, state.Restore(lost, current, now)...)
	for target, want := range map[state.Target]string{
		shop: "incident", blog: "another", {Environment: "dev", Application: state.All}: "holiday",
		{Environment: "staging", Application: state.All}: "", {Environment: "test", Application: "shop"}: "",
	} {
		if held, _ := restored.Held(target, now); held.Reason != want {
			t.Errorf("%s is held by %q, want %q", target, held.Reason, want)
		}
	}
	if diff := cmp.Diff([]state.Rejection{rejected}, restored.At(blog).Rejections); diff != "" {
		t.Error(diff)
	}
	if restored.At(state.Target{Environment: "test", Application: "shop"}).Request != nil {
		t.Error("a request came back")
	}
	if again := state.Restore(lost, restored, now); len(again) > 0 {
		t.Errorf("%d changes are left", len(again))
	}
}
