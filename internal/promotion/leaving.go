package promotion

import (
	"promoter/internal/state"
)

// Leaving is what a target is leaving by a rollback.
type Leaving struct {
	Target Target
	state.Leaving
}

// LeavingUpstream returns what the environments are leaving that a target follows, directly or indirectly,
// in the order of the config. The target does not get these versions.
func (o *Observation) LeavingUpstream(target Target) []Leaving {
	var all []Leaving
	var followed map[string]bool // nearly always, nothing is rolled back
	for _, environment := range o.Config.Ancestors(target.Environment) {
		at := Target{environment, target.Application}
		left := o.State.At(state.Target(at)).Leaving()
		if len(left) == 0 {
			continue
		}
		if followed == nil {
			followed = o.followedBy(target)
		}
		for _, one := range left {
			if followed[environment] {
				all = append(all, Leaving{at, one})
			}
		}
	}
	return all
}

// followedBy returns the environments that a target follows, directly or indirectly: those of its application
// count.
func (o *Observation) followedBy(target Target) map[string]bool {
	followed := map[string]bool{}
	next := []string{target.Environment}
	for len(next) > 0 {
		last := len(next) - 1
		parents := o.Config.Settings(next[last], target.Application).After
		next = next[:last]
		for _, parent := range parents {
			if !followed[parent.Environment] {
				followed[parent.Environment] = true
				next = append(next, parent.Environment)
			}
		}
	}
	return followed
}

// Descendant is a target that has versions that a target upstream is leaving.
type Descendant struct {
	Target
	Images map[string]string // component: repository:tag@digest
}

// Descendants returns the targets that follow a target and have a version that it is leaving, the farthest
// first. Where files have only a tag, the digest is that of the landing.
func (o *Observation) Descendants(of Target, leaving state.Leaving) []Descendant {
	var found []Descendant
	order := o.Config.Order() // parents first
	for i := len(order) - 1; i >= 0; i-- {
		target := Target{order[i], of.Application}
		current, exists := o.Targets[target]
		if !exists || !o.followedBy(target)[of.Environment] {
			continue
		}
		images := map[string]string{}
		for _, reference := range current.References {
			version := reference.Version()
			if landings := o.Landings[target]; version.Digest == "" && len(landings) > 0 {
				landed := landings[0].Snapshot[reference.Component].Version
				if landed.Tag == version.Tag {
					version.Digest = landed.Digest
				}
			}
			if leaving.Covers(reference.Repository, version) {
				images[reference.Component] = Pinned{Repository: reference.Repository, Version: version}.Reference()
			}
		}
		if len(images) > 0 {
			found = append(found, Descendant{target, images})
		}
	}
	return found
}

// LeftBy returns what files leave for a snapshot: the versions of its components that differ, repository:tag@digest.
// The function returns the digest of a tag that the files have without one; empty: it is not known.
func LeftBy(current Current, next Snapshot, digestOf func(component string, pinned Pinned) string) []string {
	seen := map[string]bool{}
	var left []string
	for _, reference := range current.References {
		to, changes := next[reference.Component]
		pinned := Pinned{Repository: reference.Repository, Version: reference.Version()}
		if pinned.Version.Digest == "" {
			pinned.Version.Digest = digestOf(reference.Component, pinned)
		}
		if !changes || SameRollout(pinned.Version, to.Version) {
			continue
		}
		text := pinned.Reference()
		if !seen[text] {
			seen[text] = true
			left = append(left, text)
		}
	}
	return left
}
