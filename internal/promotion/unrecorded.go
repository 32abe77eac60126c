package promotion

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Unrecorded returns what must be written to the state branch before the
// decisions are carried out, because nothing else will tell it later: when a
// version was first offered and a snapshot first seen, which snapshot a request
// was taken for, and which requests are done. The changes are those of the
// decisions alone: with nothing new there are none.
func Unrecorded(observed Observed, decisions []Decision, now time.Time) []state.Change {
	r := recorder{Observed: observed, now: now.UTC(), seen: map[string]bool{}}
	for _, d := range decisions {
		r.offers(d)
		r.young(d)
		r.request(d)
	}
	r.landings(decisions)
	r.wide(decisions)
	return r.changes
}

// recorder collects the changes.
type recorder struct {
	Observed
	now     time.Time
	seen    map[string]bool // components of which the young versions are noted
	changes []state.Change
}

func (r *recorder) add(change state.Change) { r.changes = append(r.changes, change) }

// offered is a version as the state remembers it.
func offered(component string, v image.Version) state.Version {
	return state.Version{Component: component, Tag: v.Tag, Digest: v.Digest}
}

// offers remembers since when the versions are offered that wait to settle.
func (r *recorder) offers(d Decision) {
	if len(d.Moves) == 0 || r.Config.Application(d.Application).Settle == 0 || !r.fromRegistry(d.Place) {
		return
	}
	for _, move := range d.Moves {
		r.offer(d.Place, offered(move.Component, move.To))
	}
}

func (r *recorder) offer(place Place, version state.Version) {
	if _, known := r.State.OfferedAt(state.Place(place), version); !known {
		version.At = r.now
		r.add(state.FirstOffered(state.Place(place), version))
	}
}

func (r *recorder) fromRegistry(place Place) bool {
	return len(r.Config.Settings(place.Environment, place.Application).After) == 0
}

// young remembers since when versions are there that minAge keeps back: once for
// each component, at the first place that takes it from its registry.
func (r *recorder) young(d Decision) {
	if !r.fromRegistry(d.Place) {
		return
	}
	for _, reference := range r.Places[d.Place].References {
		component := reference.Component
		if len(r.Offers[component].Waiting) == 0 || r.seen[component] || !r.hasMinAge(d.Place, reference) {
			continue
		}
		r.seen[component] = true
		for _, held := range r.Offers[component].Waiting {
			if held.Version.Digest != "" && !r.offeredAnywhere(component, held.Version.Digest) {
				r.offer(d.Place, offered(component, held.Version))
			}
		}
	}
}

func (r *recorder) hasMinAge(place Place, reference edit.Reference) bool {
	match, follows := r.Config.Follow(place.Environment, place.Application, reference.Repository)
	if !follows {
		return false
	}
	component, _ := r.Config.Component(match.Component)
	return component.Select.MinAge > 0
}

// offeredAnywhere says whether a digest was seen before, in whatever place: an
// image is as old in all of them.
func (r *recorder) offeredAnywhere(component, digest string) bool {
	return slices.ContainsFunc(r.State.Places(), func(place state.Place) bool {
		return slices.ContainsFunc(r.State.At(place).Versions, func(v state.Version) bool {
			return v.Component == component && v.Digest == digest
		})
	})
}

// landings remembers since when a snapshot stands where a child waits for it to
// soak, and neither the forge nor the state tells.
func (r *recorder) landings(decisions []Decision) {
	sources, survey := map[Place]bool{}, survey{Observed: r.Observed}
	for _, d := range decisions {
		settings := r.Config.Settings(d.Environment, d.Application)
		for _, parent := range settings.After {
			if parent.Soak == 0 {
				continue
			}
			for _, source := range survey.lookThrough(Place{parent.Environment, d.Application}) {
				sources[source] = true
			}
		}
	}
	for _, source := range slices.SortedFunc(maps.Keys(sources), Place.Compare) {
		landings := r.Landings[source]
		if len(landings) > 0 && landings[0].At.IsZero() && len(landings[0].Snapshot) > 0 {
			r.add(state.FirstSeen(state.Place(source), landings[0].Snapshot.ID(), r.now))
		}
	}
}

// request binds a request to the snapshot that it is proposed for, so that it
// counts for no later one, and drops it when it is done.
func (r *recorder) request(d Decision) {
	own := r.State.At(state.Place(d.Place)).Request
	switch {
	case d.Fulfilled != nil:
		r.add(state.Fulfil(state.Place(d.Place), *d.Fulfilled))
	case d.Request == nil || d.State != Proposed:
	case own == nil:
		request := *d.Request
		request.Snapshot = d.Snapshot.ID()
		r.add(state.Ask(state.Place(d.Place), request))
	case own.Snapshot == "":
		r.add(state.Take(state.Place(d.Place), *own, d.Snapshot.ID()))
	}
}

// wide hands a request for an environment on to its applications, and drops it:
// each of them goes on, or waits, for itself.
func (r *recorder) wide(decisions []Decision) {
	var done []state.Change
	last := ""
	for _, d := range decisions {
		all := state.Place{Environment: d.Environment, Application: state.All}
		request := r.State.At(all).Request
		if request == nil {
			continue
		}
		waits := d.State == Waiting || d.State == Same && len(request.With) > 0
		if waits && r.State.At(state.Place(d.Place)).Request == nil {
			r.add(state.Ask(state.Place(d.Place), *request))
		}
		if d.Environment != last {
			last = d.Environment
			done = append(done, state.Fulfil(all, *request))
		}
	}
	r.changes = append(r.changes, done...)
}
