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
// decisions are carried out, because nothing else records it: when a version was
// first available and a snapshot first seen, for which snapshot a request was
// proposed, and which requests are done. If nothing is new, there are no updates.
func StateUpdates(observation Observation, decisions []Decision, now time.Time) []state.Change {
	u := updates{obs: &observation, now: now.UTC(), noted: map[string]bool{}}
	for _, d := range decisions {
		if u.fromRegistry(d.Target) {
			u.settling(d)
			u.tooYoung(d.Target)
		}
		u.request(d)
	}
	u.firstSeen(decisions)
	u.sharedRequests(decisions)
	return u.changes
}

// updates collects the changes.
type updates struct {
	obs     *Observation
	now     time.Time
	noted   map[string]bool // components whose too young versions are recorded
	changes []state.Change
}

// stateVersion is a version as the state stores it.
func stateVersion(component string, v image.Version) state.Version {
	return state.Version{Component: component, Tag: v.Tag, Digest: v.Digest}
}

func (u *updates) fromRegistry(target Target) bool {
	return len(u.obs.Config.Settings(target.Environment, target.Application).After) == 0
}

func (u *updates) firstAvailable(target Target, version state.Version) {
	if _, known := u.obs.State.AvailableSince(state.Target(target), version); !known {
		version.At = u.now
		u.changes = append(u.changes, state.FirstAvailable(state.Target(target), version))
	}
}

// settling records since when the versions are available that wait to settle.
func (u *updates) settling(d Decision) {
	if u.obs.Config.Application(d.Application).Settle == 0 {
		return
	}
	for _, move := range d.Moves {
		u.firstAvailable(d.Target, stateVersion(move.Component, move.To))
	}
}

// tooYoung records since when versions are available that minAge holds back: once
// for each component, at the first target that takes it from its registry.
func (u *updates) tooYoung(target Target) {
	hasMinAge := func(r edit.Reference) bool {
		match, follows := u.obs.Config.Follow(target.Environment, target.Application, r.Repository)
		if !follows {
			return false
		}
		component, _ := u.obs.Config.Component(match.Component)
		return component.Select.MinAge > 0
	}
	for _, reference := range u.obs.Targets[target].References {
		component := reference.Component
		held := u.obs.Available[component].Held
		if len(held) == 0 || u.noted[component] || !hasMinAge(reference) {
			continue
		}
		u.noted[component] = true
		for _, h := range held {
			if h.Version.Digest != "" && !u.availableAnywhere(component, h.Version.Digest) {
				u.firstAvailable(target, stateVersion(component, h.Version))
			}
		}
	}
}

// availableAnywhere reports whether a digest is recorded for any target: the age of
// an image is the same in all of them.
func (u *updates) availableAnywhere(component, digest string) bool {
	return slices.ContainsFunc(u.obs.State.Targets(), func(target state.Target) bool {
		return slices.ContainsFunc(u.obs.State.At(target).Versions, func(v state.Version) bool {
			return v.Component == component && v.Digest == digest
		})
	})
}

// firstSeen records since when a snapshot is in a source where it has to soak, if
// neither the forge nor the state knows.
func (u *updates) firstSeen(decisions []Decision) {
	ix, sources := index{obs: u.obs}, map[Target]bool{}
	for _, d := range decisions {
		for _, parent := range u.obs.Config.Settings(d.Environment, d.Application).After {
			if parent.Soak == 0 {
				continue
			}
			for _, source := range ix.sourcesIn(parent.Environment, d.Application) {
				sources[source] = true
			}
		}
	}
	for _, source := range slices.SortedFunc(maps.Keys(sources), Target.Compare) {
		landings := u.obs.Landings[source]
		if len(landings) > 0 && landings[0].At.IsZero() && len(landings[0].Snapshot) > 0 {
			u.changes = append(u.changes, state.FirstSeen(state.Target(source), landings[0].Snapshot.ID(), u.now))
		}
	}
}

// request binds a request to the snapshot that is proposed for it, so that it
// applies to no later one, and removes it when it is done.
func (u *updates) request(d Decision) {
	target := state.Target(d.Target)
	own := u.obs.State.At(target).Request
	switch {
	case d.Fulfilled != nil:
		u.changes = append(u.changes, state.RemoveRequest(target, *d.Fulfilled))
	case d.Request == nil || d.State != Proposed:
	case own == nil:
		request := *d.Request
		request.Snapshot = d.Snapshot.ID()
		u.changes = append(u.changes, state.AddRequest(target, request))
	case own.Snapshot == "":
		u.changes = append(u.changes, state.BindRequest(target, *own, d.Snapshot.ID()))
	}
}

// sharedRequests passes the request for an environment on to its applications that
// have to wait, and removes it.
func (u *updates) sharedRequests(decisions []Decision) {
	var done []state.Change
	last := ""
	for _, d := range decisions {
		all := state.Target{Environment: d.Environment, Application: state.All}
		request := u.obs.State.At(all).Request
		if request == nil {
			continue
		}
		waits := d.State == Waiting || d.State == Same && len(request.With) > 0
		if waits && u.obs.State.At(state.Target(d.Target)).Request == nil {
			u.changes = append(u.changes, state.AddRequest(state.Target(d.Target), *request))
		}
		if d.Environment != last {
			last = d.Environment
			done = append(done, state.RemoveRequest(all, *request))
		}
	}
	u.changes = append(u.changes, done...)
}
