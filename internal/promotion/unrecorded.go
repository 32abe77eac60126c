package promotion

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// StateUpdates returns what must be written to the state branch before the
// decisions are carried out, because nothing else will tell it later: when a
// version was first offered and a snapshot first seen, which snapshot a request
// was taken for, and which requests are done. The changes are those of the
// decisions alone: with nothing new there are none.
func StateUpdates(observation Observation, decisions []Decision, now time.Time) []state.Change {
	r := recorder{Observation: observation, now: now.UTC(), seen: map[string]bool{}}
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
	Observation
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
	if len(d.Moves) == 0 || r.Config.Application(d.Application).Settle == 0 || !r.fromRegistry(d.Target) {
		return
	}
	for _, move := range d.Moves {
		r.offer(d.Target, offered(move.Component, move.To))
	}
}

func (r *recorder) offer(target Target, version state.Version) {
	if _, known := r.State.OfferedAt(state.Target(target), version); !known {
		version.At = r.now
		r.add(state.FirstOffered(state.Target(target), version))
	}
}

func (r *recorder) fromRegistry(target Target) bool {
	return len(r.Config.Settings(target.Environment, target.Application).After) == 0
}

// young remembers since when versions are there that minAge keeps back: once for
// each component, at the first place that takes it from its registry.
func (r *recorder) young(d Decision) {
	if !r.fromRegistry(d.Target) {
		return
	}
	for _, reference := range r.Targets[d.Target].References {
		component := reference.Component
		if len(r.Available[component].Held) == 0 || r.seen[component] || !r.hasMinAge(d.Target, reference) {
			continue
		}
		r.seen[component] = true
		for _, held := range r.Available[component].Held {
			if held.Version.Digest != "" && !r.offeredAnywhere(component, held.Version.Digest) {
				r.offer(d.Target, offered(component, held.Version))
			}
		}
	}
}

func (r *recorder) hasMinAge(target Target, reference edit.Reference) bool {
	match, follows := r.Config.Follow(target.Environment, target.Application, reference.Repository)
	if !follows {
		return false
	}
	component, _ := r.Config.Component(match.Component)
	return component.Select.MinAge > 0
}

// offeredAnywhere says whether a digest was seen before, in whatever place: an
// image is as old in all of them.
func (r *recorder) offeredAnywhere(component, digest string) bool {
	return slices.ContainsFunc(r.State.Targets(), func(target state.Target) bool {
		return slices.ContainsFunc(r.State.At(target).Versions, func(v state.Version) bool {
			return v.Component == component && v.Digest == digest
		})
	})
}

// landings remembers since when a snapshot stands where a child waits for it to
// soak, and neither the forge nor the state tells.
func (r *recorder) landings(decisions []Decision) {
	sources, survey := map[Target]bool{}, survey{Observation: r.Observation}
	for _, d := range decisions {
		settings := r.Config.Settings(d.Environment, d.Application)
		for _, parent := range settings.After {
			if parent.Soak == 0 {
				continue
			}
			for _, source := range survey.lookThrough(Target{parent.Environment, d.Application}) {
				sources[source] = true
			}
		}
	}
	for _, source := range slices.SortedFunc(maps.Keys(sources), Target.Compare) {
		landings := r.Landings[source]
		if len(landings) > 0 && landings[0].At.IsZero() && len(landings[0].Snapshot) > 0 {
			r.add(state.FirstSeen(state.Target(source), landings[0].Snapshot.ID(), r.now))
		}
	}
}

// request binds a request to the snapshot that it is proposed for, so that it
// counts for no later one, and drops it when it is done.
func (r *recorder) request(d Decision) {
	own := r.State.At(state.Target(d.Target)).Request
	switch {
	case d.Fulfilled != nil:
		r.add(state.Fulfill(state.Target(d.Target), *d.Fulfilled))
	case d.Request == nil || d.State != Proposed:
	case own == nil:
		request := *d.Request
		request.Snapshot = d.Snapshot.ID()
		r.add(state.Ask(state.Target(d.Target), request))
	case own.Snapshot == "":
		r.add(state.Take(state.Target(d.Target), *own, d.Snapshot.ID()))
	}
}

// wide hands a request for an environment on to its applications, and drops it:
// each of them goes on, or waits, for itself.
func (r *recorder) wide(decisions []Decision) {
	var done []state.Change
	last := ""
	for _, d := range decisions {
		all := state.Target{Environment: d.Environment, Application: state.All}
		request := r.State.At(all).Request
		if request == nil {
			continue
		}
		waits := d.State == Waiting || d.State == Same && len(request.With) > 0
		if waits && r.State.At(state.Target(d.Target)).Request == nil {
			r.add(state.Ask(state.Target(d.Target), *request))
		}
		if d.Environment != last {
			last = d.Environment
			done = append(done, state.Fulfill(all, *request))
		}
	}
	r.changes = append(r.changes, done...)
}
