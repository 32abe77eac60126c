// Package record decides what must be remembered on the state branch so that later
// decisions can be made: times, and what becomes of requests.
package record

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Changes returns what must be written to the state branch before the
// decisions are carried out, because nothing else records it: when a version was
// first available and a snapshot first seen, for which snapshot a request was
// proposed, and which requests are done. If nothing is new, there are no changes.
func Changes(observation promotion.Observation, decisions []promotion.Decision, now time.Time) []state.Change {
	r := recorder{obs: &observation, now: now.UTC(), noted: map[string]bool{}, first: map[string]bool{}}
	for _, d := range decisions {
		if r.fromRegistry(d.Target) {
			r.settling(d)
			r.tooYoung(d.Target)
		}
		r.observed(d)
		r.request(d)
		if d.Returned != nil {
			r.changes = append(r.changes, state.EndRollback(state.Target(d.Target), *d.Returned))
		}
	}
	for _, d := range decisions {
		r.unsealed(d.Target)
	}
	r.firstSeen(decisions)
	r.sharedRequests(decisions)
	return r.changes
}

// recorder collects the changes.
type recorder struct {
	obs     *promotion.Observation
	now     time.Time
	noted   map[string]bool // components whose too young versions are recorded
	first   map[string]bool // versions that are recorded now, COMPONENT@DIGEST
	changes []state.Change
}

func (r *recorder) fromRegistry(target promotion.Target) bool {
	return len(r.obs.Config.Settings(target.Environment, target.Application).After) == 0
}

func (r *recorder) firstAvailable(target promotion.Target, version state.Version) {
	if _, known := r.obs.State.AvailableSince(state.Target(target), version); !known {
		version.At = r.now
		r.first[version.Component+"@"+version.Digest] = true
		r.changes = append(r.changes, state.FirstAvailable(state.Target(target), version))
	}
}

// settling records since when the versions are available that wait to settle.
func (r *recorder) settling(d promotion.Decision) {
	if r.obs.Config.Application(d.Application).Settle == 0 {
		return
	}
	for _, move := range d.Moves {
		if move.Form == "" {
			r.firstAvailable(d.Target, promotion.StateVersion(move.Component, move.To))
		}
	}
}

// tooYoung records since when versions are available that minAge holds back: once
// for each component, at the first target that takes it from its registry.
func (r *recorder) tooYoung(target promotion.Target) {
	hasMinAge := func(reference edit.Reference) bool {
		match, follows := r.obs.Config.FollowAs(target.Environment, target.Application, reference.Repository, reference.Component)
		if !follows {
			return false
		}
		component, _ := r.obs.Config.Component(match.Component)
		return component.Select.MinAge > 0
	}
	for _, reference := range r.obs.Targets[target].References {
		component := reference.Component
		held := r.obs.Available[component].Held
		if len(held) == 0 || r.noted[component] || !hasMinAge(reference) {
			continue
		}
		r.noted[component] = true
		for _, h := range held {
			if _, known := r.availableSince(component, h.Version.Digest); h.Version.Digest != "" && !known {
				r.firstAvailable(target, promotion.StateVersion(component, h.Version))
			}
		}
	}
}

// unsealed ends the times without a seal of versions that settle or minAge hold back no longer. Those of a registry that did not
// answer are kept.
func (r *recorder) unsealed(target promotion.Target) {
	at := state.Target(target)
	var ended []state.Version
	for _, version := range r.obs.State.At(at).UnsealedVersions {
		component, _ := r.obs.Config.Component(version.Component)
		waits := max(r.obs.Config.Application(target.Application).Settle, component.Select.MinAge)
		since, counts := r.availableSince(version.Component, version.Digest)
		answer, answered := r.obs.Available[version.Component]
		switch {
		case r.first[version.Component+"@"+version.Digest]: // it waits since now
		case counts && r.now.Before(since.Add(waits)):
		case !counts && (!answered || answer.Err != nil):
		default:
			ended = append(ended, version)
		}
	}
	if len(ended) > 0 {
		r.changes = append(r.changes, state.EndUnsealed(at, ended))
	}
}

// availableSince returns since when a digest is recorded for any target.
func (r *recorder) availableSince(component, digest string) (since time.Time, known bool) {
	return state.Earliest(r.obs.State, func(one state.Record) []state.Version { return one.Versions }, component, digest)
}

// observed records the digests of tags that users wrote to the sources of a decision
// without one, when it is first taken from there.
func (r *recorder) observed(d promotion.Decision) {
	for _, move := range d.Moves {
		if move.To.Digest == "" {
			continue
		}
		for _, parent := range r.obs.Config.Settings(d.Environment, d.Application).After {
			for _, source := range r.obs.Sources(parent.Environment, d.Application) {
				r.observedIn(source, move)
			}
		}
	}
}

// observedIn records the digest of a tag in a source, unless an earlier one is recorded.
func (r *recorder) observedIn(source promotion.Target, move promotion.Move) {
	at := state.Target(source)
	for _, reference := range r.obs.Targets[source].References {
		if reference.Component != move.Component || reference.Digest != "" || reference.Tag != move.To.Tag {
			continue
		}
		repository := reference.Repository.String()
		if _, known := r.obs.State.ObservedDigest(at, repository, reference.Tag); known {
			continue
		}
		observed := state.Observed{Repository: repository, Tag: reference.Tag, Digest: move.To.Digest, At: r.now}
		r.changes = append(r.changes, state.Observe(at, observed))
	}
}

// firstSeen records since when a snapshot is in a source where it has to soak, if
// neither the forge nor the state knows.
func (r *recorder) firstSeen(decisions []promotion.Decision) {
	sources := map[promotion.Target]bool{}
	for _, d := range decisions {
		for _, parent := range r.obs.Config.Settings(d.Environment, d.Application).After {
			if parent.Soak == 0 {
				continue
			}
			for _, source := range r.obs.Sources(parent.Environment, d.Application) {
				sources[source] = true
			}
		}
	}
	for _, source := range slices.SortedFunc(maps.Keys(sources), promotion.Target.Compare) {
		landings := r.obs.Landings[source]
		if len(landings) > 0 && landings[0].At.IsZero() && len(landings[0].Snapshot) > 0 {
			r.changes = append(r.changes, state.FirstSeen(state.Target(source), landings[0].Snapshot.ID(), landings[0].First, r.now))
		}
	}
}

// request binds a request to the snapshot that is proposed for it, so that it
// applies to no later one, and removes it when it is done.
func (r *recorder) request(d promotion.Decision) {
	target := state.Target(d.Target)
	own := r.obs.State.At(target).Request
	switch {
	case d.Ended != nil:
		r.changes = append(r.changes, state.EndRequest(target, d.Ended.Request, d.Ended.Reason.Message, r.now))
	case d.Fulfilled != nil:
		r.changes = append(r.changes, state.RemoveRequest(target, *d.Fulfilled))
	case d.Request == nil || d.State != promotion.Proposed:
	case own == nil:
		request := *d.Request
		request.Snapshot = d.Snapshot.ID()
		r.changes = append(r.changes, state.AddRequest(target, request))
	case own.Snapshot == "":
		r.changes = append(r.changes, state.BindRequest(target, *own, d.Snapshot.ID()))
	}
}

// sharedRequests passes the request for an environment on to its applications that
// have to wait, and removes it.
func (r *recorder) sharedRequests(decisions []promotion.Decision) {
	var done []state.Change
	last := ""
	for _, d := range decisions {
		all := state.Target{Environment: d.Environment, Application: state.All}
		request := r.obs.State.At(all).Request
		if request == nil {
			continue
		}
		waits := d.State == promotion.Waiting || d.State == promotion.Same && len(request.With) > 0
		if waits && r.obs.State.At(state.Target(d.Target)).Request == nil {
			r.changes = append(r.changes, state.AddRequest(state.Target(d.Target), *request))
		}
		if d.Environment != last {
			last = d.Environment
			done = append(done, state.RemoveRequest(all, *request))
		}
	}
	r.changes = append(r.changes, done...)
}
