package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/image"
	"promoter/internal/state"
)

var production = state.Target{Environment: "production", Application: "shop"}

func location(files ...string) state.Location {
	return state.Location{Files: files, Heads: map[string]string{"": digestA}}
}

// renamed returns the state in which its decisions also stop production.
func renamed(s state.State) state.State {
	m := state.Renamed{Targets: map[state.Target][]state.Moved{}}
	for _, stop := range s.Stops(noon) {
		m.Targets[production] = append(m.Targets[production], state.Moved{Stop: stop, How: state.HasFiles, Gone: true})
		m.Gone = append(m.Gone, stop)
	}
	return s.WithRenamed(m)
}

// The location is recorded once, for decisions that have none and that the state before did not have.
func TestLocate_recordsWhereNewDecisionsAre(t *testing.T) {
	t.Parallel()
	before := apply(t, state.State{}, state.Hold(shop, act("ann", 1)), state.Reject(shop, reject(2, web2)))
	after := apply(t, before, state.Reject(shop, reject(3, worker2)), state.Freeze("prod", act("bob", 4), nil), state.Hold(everyone, act("bob", 5)))
	if got := state.Unlocated(after, before); !slices.Equal(got, []state.Target{prod, shop}) {
		t.Errorf("unlocated: %v", got)
	}
	if got := state.Unlocated(after, after); len(got) > 0 {
		t.Errorf("unlocated since: %v", got)
	}
	located := apply(t, after, state.Locate(shop, location("a"), before), state.Locate(prod, location("b"), before))
	record := located.At(shop)
	if record.Hold.Location != nil || record.Rejections[0].Location != nil || record.Rejections[1].Location == nil ||
		located.At(prod).Freeze.Location == nil {
		t.Errorf("%+v", record)
	}
	all := apply(t, located, state.Locate(shop, location("c"), state.State{}))
	if record := all.At(shop); record.Hold.Location.Files[0] != "c" || record.Rejections[1].Location.Files[0] != "a" {
		t.Errorf("%+v", record)
	}
	if got := state.Unlocated(all, state.State{}); len(got) > 0 {
		t.Errorf("still unlocated: %v", got)
	}
	var files []string
	for path := range all.Diff(after) {
		files = append(files, path)
	}
	slices.Sort(files)
	if diff := cmp.Diff([]string{"prod/_all.json", "prod/shop.json"}, files); diff != "" {
		t.Error(diff)
	}
}

// A location over its limits, which a user wrote, is ignored, so that the next reconciliation records it again.
func TestRead_ignoresALargeLocation(t *testing.T) {
	t.Parallel()
	for _, files := range [][]string{slices.Repeat([]string{"a"}, state.MaxLocations+1), {strings.Repeat("a", 2000)}} {
		held := act("ann", 1)
		large := location(files...)
		held.Location = &large
		s := apply(t, state.State{}, state.Hold(shop, held))
		if hold := s.At(shop).Hold; hold == nil || hold.Location != nil {
			t.Errorf("%d files: %+v", len(files), hold)
		}
	}
}

// Holds, freezes, and rejections also count under another name, until they end; the widest first.
func TestRenamed_stopsUnderAnotherName(t *testing.T) {
	t.Parallel()
	web, err := image.Parse(web2)
	if err != nil {
		t.Fatal(err)
	}
	version := image.Version{Tag: web.Tag, Digest: web.Digest}
	s := renamed(apply(t, state.State{}, state.Hold(shop, act("ann", 1)), state.Reject(shop, reject(2, web2))))
	held, stopped := s.Held(production, noon)
	if !stopped || held.Target != shop || held.Applies != (state.Applies{As: shop, How: state.HasFiles, Gone: true}) {
		t.Errorf("held: %+v", held)
	}
	rejection, rejected := s.Rejected(production, web.Repository, version)
	if !rejected || s.Applies(production, rejection).As != shop {
		t.Errorf("rejected: %+v", rejection)
	}
	if _, rejected := s.Rejected(blog, web.Repository, version); rejected {
		t.Error("another target is rejected")
	}
	if len(s.Gone()) != 2 || !slices.Equal(s.Elsewhere(s.Gone()[0]), []state.Target{production}) {
		t.Errorf("gone: %v", s.Gone())
	}
	// A hold there, such as that of a rollback, does not hide it.
	own := apply(t, s, state.Hold(production, act("cho", 3)))
	if held, _ := own.Held(production, noon); held.Target != shop {
		t.Errorf("with an own hold: %+v", held)
	}
	// Whatever ends it, ends it everywhere.
	ended := apply(t, own, state.Resume(shop, act("ann", 9)))
	if held, _ := ended.Held(production, noon); held.Target != production || len(ended.Gone()) != 1 || len(ended.Moved(production)) != 1 {
		t.Errorf("after a resume: %+v, %v", held, ended.Gone())
	}
	ended = apply(t, ended, state.Unreject(shop, state.Unrejection{Act: act("ann", 9), Images: s.At(shop).Rejections[0].Images}))
	if len(ended.Gone()) > 0 || len(ended.Moved(production)) > 0 {
		t.Errorf("after an unreject: %v", ended.Gone())
	}
	frozen := renamed(apply(t, state.State{}, state.Freeze("prod", act("ann", 1), nil)))
	if held, stopped := frozen.Held(production, noon); !stopped || !held.Freeze {
		t.Errorf("frozen: %+v", held)
	}
	if _, stopped := frozen.HeldWithoutFreezes(production, noon); stopped {
		t.Error("a bypassed freeze stops it under another name")
	}
}

// What counts under another name is among what differs, also if no record does.
func TestChanged_listsOtherNames(t *testing.T) {
	t.Parallel()
	s := apply(t, state.State{}, state.Hold(shop, act("ann", 1)))
	for _, test := range [][2]state.State{{s, renamed(s)}, {renamed(s), s}} {
		if diff := cmp.Diff([]state.Target{production}, test[0].Changed(test[1]), cmpopts.SortSlices(func(a, b state.Target) bool { return a.String() < b.String() })); diff != "" {
			t.Error(diff)
		}
	}
	located := apply(t, renamed(s), state.Locate(shop, location("a"), state.State{}))
	if got := located.Changed(renamed(s)); !slices.Equal(got, []state.Target{shop}) {
		t.Errorf("with a location: %v", got)
	}
}

// What replaces a freeze or a hold keeps its location: it may have been about what has another name now.
func TestLocate_staysWhereItWas(t *testing.T) {
	t.Parallel()
	until := after(60)
	s := apply(t, state.State{}, state.Hold(shop, act("ann", 1)), state.Freeze("prod", act("ann", 1), &until),
		state.Locate(shop, location("a"), state.State{}), state.Locate(prod, location("b"), state.State{}))
	replaced := apply(t, s, state.Freeze("prod", act("bob", 2), nil), state.Rollback(shop, state.RolledBack{Act: act("bob", 2)}))
	if freeze := replaced.At(prod).Freeze; freeze.By.Login != "bob" || freeze.Location == nil || freeze.Location.Files[0] != "b" {
		t.Errorf("freeze: %+v", freeze)
	}
	if hold := replaced.At(shop).Hold; hold.By.Login != "bob" || hold.Location == nil || hold.Location.Files[0] != "a" {
		t.Errorf("hold: %+v", hold)
	}
	if replaced.At(shop).Rollback.Location != nil {
		t.Error("the rollback has a location")
	}
	// A user who writes a longer freeze without a seal does not move it.
	longer, elsewhere := act("eve", 3), location("none")
	longer.Location = &elsewhere
	given := apply(t, state.State{}, state.Freeze("prod", longer, nil))
	authentic, _ := state.Authentic(s, given, noon)
	if freeze := authentic.At(prod).Freeze; freeze.Until != nil || freeze.Location.Files[0] != "b" {
		t.Errorf("authentic: %+v", freeze)
	}
}
