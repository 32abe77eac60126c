package state_test

import (
	"testing"

	"promoter/internal/state"
)

// Times of before the first seal are set aside: they do not count, and can be adopted.
func TestSetTimesAside_keepsTimesThatDoNotCount(t *testing.T) {
	t.Parallel()
	given := apply(t, state.State{}, state.FirstSeen(shop, "v1:a", "c1", after(1)), state.Hold(blog, act("ann", 1)))
	for name, sealed := range map[string]state.State{"first seal": state.Bookkeeping(given), "another key": state.SetTimesAside(given)} {
		got, out := state.Authentic(sealed, given, noon)
		if _, counts := got.SeenSince(shop, "v1:a"); counts || held(got, blog, noon) == "" {
			t.Errorf("%s: %v", name, whole(got))
		}
		if at, found := got.Unsealed(shop, "v1:a", "c9"); !found || !at.Equal(after(1)) || len(got.SetAside()) != 1 {
			t.Errorf("%s: set aside: %v", name, whole(got))
		}
		if len(out) != 1 || !out[0].OnlyObserved() || out[0].String() != "seen of shop in prod" {
			t.Errorf("%s: ignored %v", name, ignored(out))
		}
	}
}

// A user who may push cannot add times that wait to be adopted.
func TestAuthentic_nothingIsSetAsideLater(t *testing.T) {
	t.Parallel()
	sealed := apply(t, state.State{}, state.Closed(shop, 7, "x", after(1)))
	given := sealed.With(shop, func(r *state.Record) {
		r.UnsealedSeen = []state.Seen{{Snapshot: "v1:a", At: after(-999)}}
	})
	got, out := state.Authentic(sealed, given, noon)
	same(t, sealed, got)
	if len(out) != 1 || out[0].String() != "unsealedSeen of shop in prod" {
		t.Errorf("ignored %v", ignored(out))
	}
}

func TestFirstSeen_endsTimesThatWereSetAside(t *testing.T) {
	t.Parallel()
	aside := state.SetTimesAside(apply(t, state.State{}, state.FirstSeen(shop, "v1:a", "c1", after(5))))
	for name, c := range map[string]struct {
		change state.Change
		kept   bool
	}{
		"later":                {state.FirstSeen(shop, "v1:a", "c1", after(9)), true},
		"the same commit":      {state.FirstSeen(shop, "v1:form", "c1", after(9)), true},
		"a known time":         {state.FirstSeen(shop, "v1:a", "c1", after(5)), false},
		"other versions":       {state.FirstSeen(shop, "v1:b", "c2", after(9)), false},
		"of other application": {state.FirstSeen(blog, "v1:b", "c2", after(9)), true},
	} {
		if _, kept := apply(t, aside, c.change).Unsealed(shop, "v1:a", "c1"); kept != c.kept {
			t.Errorf("%s: kept %v", name, kept)
		}
	}
}

func TestAdopt_countsFromTheAdoptedTime(t *testing.T) {
	t.Parallel()
	s := apply(t, state.SetTimesAside(apply(t, state.State{}, state.FirstSeen(shop, "v1:a", "", after(1)), state.FirstSeen(shop, "v1:b", "", after(2)))),
		state.FirstSeen(shop, "v1:b", "c2", after(9)))
	adopt := state.Adopt(shop, []state.Seen{{Snapshot: "v1:b", Commit: "c2", At: after(2)}, {Snapshot: "v1:b", Commit: "c2", At: after(-9)}})
	s = apply(t, s, adopt, adopt)
	want := []state.Seen{{Snapshot: "v1:b", Commit: "c2", At: after(2)}, {Snapshot: "v1:b", Commit: "c2", At: after(9)}}
	same(t, apply(t, state.State{}, with(shop, func(r *state.Record) { r.Seen = want })), s)
}

// The first availability of versions is set aside as well.
func TestSetTimesAside_keepsFirstAvailabilities(t *testing.T) {
	t.Parallel()
	one := state.Version{Component: "web", Tag: "1.1.0", Digest: "sha256:a"}
	two := state.Version{Component: "web", Tag: "1.2.0", Digest: "sha256:b"}
	when := func(v state.Version, minutes int) state.Version {
		v.At = after(minutes)
		return v
	}
	given := apply(t, state.State{}, state.FirstAvailable(shop, when(one, 1)), state.FirstAvailable(shop, when(two, 2)))
	aside, _ := state.Authentic(state.Bookkeeping(given), given, noon)
	if _, counts := aside.AvailableSince(shop, one); counts || len(aside.SetAside()) != 1 {
		t.Errorf("counts: %v", whole(aside))
	}
	if at, found := aside.UnsealedSince(shop, two); !found || !at.Equal(after(2)) {
		t.Errorf("set aside: %v", whole(aside))
	}
	adopted := apply(t, aside, state.FirstAvailable(shop, when(two, 9)),
		state.AdoptVersions(shop, []state.Version{when(one, -999), when(two, 2)})) // no such time of one was set aside
	if _, counts := adopted.AvailableSince(shop, one); counts || len(adopted.SetAside()) != 0 {
		t.Errorf("adopted: %v", whole(adopted))
	}
	if at, _ := adopted.AvailableSince(shop, two); !at.Equal(after(2)) {
		t.Errorf("adopted: %v", whole(adopted))
	}
	ended := apply(t, aside, state.EndUnsealed(shop, []state.Version{one}))
	if _, found := ended.UnsealedSince(shop, one); found || len(ended.SetAside()) != 1 {
		t.Errorf("ended: %v", whole(ended))
	}
}
