package landing

import (
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// This file compares the files that a reconciliation observed with snapshots.

// Observed is what a reconciliation observed before it reads the history of branches.
type Observed struct {
	Now       time.Time
	Heads     map[string]string     // the fetched branches
	Statuses  map[string]scm.Check  // our own commit status, by commit; more are added
	Promotion promotion.Observation // targets, config, and user decisions
	Reports   []health.Report       // about health, that arrived at receivers
	// Asked are targets whose landings a user wants to know; nil: none.
	Asked func(promotion.Target) bool
}

// rollsBack reports whether a rollback of the target is not carried out yet. Its
// versions must have landed there.
func (o Observed) rollsBack(target promotion.Target) bool {
	rollback := o.Promotion.State.At(state.Target(target)).Rollback
	return rollback != nil && slices.ContainsFunc(o.Promotion.Targets[target].References, func(r edit.Reference) bool {
		wanted, err := image.Parse(rollback.Images[r.Component])
		return err == nil && (wanted.Tag != r.Tag || wanted.Digest != r.Digest)
	})
}

// sameVersions reports whether two targets have the same version of every component of
// the second.
func (o Observed) sameVersions(from, target promotion.Target) bool {
	versions := map[string]edit.Reference{}
	for _, r := range o.Promotion.Targets[from].References {
		versions[r.Component] = r
	}
	return !slices.ContainsFunc(o.Promotion.Targets[target].References, func(r edit.Reference) bool {
		other, found := versions[r.Component]
		return found && (other.Tag != r.Tag || other.Digest != r.Digest)
	})
}

// rejects reports whether users rejected a version of a snapshot in a target.
func (o Observed) rejects(target promotion.Target, snapshot promotion.Snapshot) bool {
	for _, pinned := range snapshot {
		if _, rejected := o.Promotion.State.Rejected(state.Target(target), pinned.Repository, pinned.Version); rejected {
			return true
		}
	}
	return false
}

// hasRejected reports whether the files of a target have a version that users rejected there: who brought it is shown.
func (o Observed) hasRejected(target promotion.Target) bool {
	return slices.ContainsFunc(o.Promotion.Targets[target].References, func(r edit.Reference) bool {
		_, rejected := o.Promotion.State.Rejected(state.Target(target), r.Repository, r.Version())
		return rejected
	})
}

// leftUpstream reports whether an environment that a target follows is leaving a version of a snapshot.
func (o Observed) leftUpstream(target promotion.Target, snapshot promotion.Snapshot) bool {
	return slices.ContainsFunc(o.Promotion.LeavingUpstream(target), func(left promotion.Leaving) bool {
		for _, pinned := range snapshot {
			if left.Covers(pinned.Repository, pinned.Version) {
				return true
			}
		}
		return false
	})
}

// touches returns whether a path may have versions of a target.
func (o Observed) touches(target promotion.Target) func(path string) bool {
	environment, _ := o.Promotion.Config.Environment(target.Environment)
	own := o.Promotion.Deployment(target).Files
	return func(path string) bool {
		_, within := environment.Match(path)
		return within || slices.Contains(own, path)
	}
}

// anyChild reports whether a condition of a child on the target matches.
func (o Observed) anyChild(target promotion.Target, matches func(setting.Parent) bool) bool {
	return slices.ContainsFunc(o.Promotion.Config.Environments, func(child config.Environment) bool {
		after := o.Promotion.Config.Settings(child.Name, target.Application).After
		return slices.ContainsFunc(after, func(p setting.Parent) bool { return matches(p) && o.leadsTo(p.Environment, target) })
	})
}

// leadsTo reports whether a condition on an environment is one on the target. One on an
// environment in which the application is absent is one on its parents.
func (o Observed) leadsTo(environment string, target promotion.Target) bool {
	if environment == target.Environment {
		return true
	}
	if _, present := o.Promotion.Targets[promotion.Target{Environment: environment, Application: target.Application}]; present {
		return false
	}
	after := o.Promotion.Config.Settings(environment, target.Application).After
	return slices.ContainsFunc(after, func(p setting.Parent) bool { return o.leadsTo(p.Environment, target) })
}

// isCurrent reports whether the files of a target contain a snapshot, and no component
// besides it.
func (o Observed) isCurrent(target promotion.Target, snapshot promotion.Snapshot) bool {
	current := o.Promotion.Targets[target]
	unknown := func(r edit.Reference) bool {
		_, known := snapshot[r.Component]
		return !known
	}
	return !slices.ContainsFunc(current.References, unknown) && containsSnapshot(current, snapshot)
}

// currentIndex returns the index of the landing that the files of a target contain now.
func (o Observed) currentIndex(target promotion.Target, landings []promotion.Landing) int {
	return slices.IndexFunc(landings, func(l promotion.Landing) bool { return o.isCurrent(target, l.Snapshot) })
}

// containsSnapshot reports whether files contain the versions of a snapshot. They may
// refer to other components too.
func containsSnapshot(current promotion.Current, snapshot promotion.Snapshot) bool {
	for component, pinned := range snapshot {
		if !ContainsVersion(current, component, pinned) {
			return false
		}
	}
	return len(current.References) > 0
}

// ContainsVersion reports whether all references to a component are at a version.
func ContainsVersion(current promotion.Current, component string, pinned promotion.Pinned) bool {
	return !slices.ContainsFunc(current.References, func(r edit.Reference) bool {
		here := pinned.Version
		here.Tag, here.Digest = r.Tag, r.Digest
		return r.Component == component && !promotion.SameRollout(here, pinned.Version)
	})
}

// ChangedBy returns the versions of a snapshot that differ from the files.
func ChangedBy(o promotion.Observation, landed promotion.Landed) map[string]string {
	images := map[string]string{}
	for component, pinned := range landed.Snapshot {
		if !ContainsVersion(o.Targets[landed.Target], component, pinned) {
			images[component] = pinned.Reference()
		}
	}
	return images
}

// RewrittenBy returns the versions of a snapshot that the files have, in another form than
// promoter would write.
func RewrittenBy(o promotion.Observation, landed promotion.Landed) map[string]string {
	images := map[string]string{}
	current := o.Targets[landed.Target]
	for component, pinned := range landed.Snapshot {
		rewrites := slices.ContainsFunc(current.References, func(r edit.Reference) bool {
			return r.Component == component && (r.Form != edit.Form{} || r.Tag != "" && r.Tag != pinned.Version.Tag)
		})
		if rewrites && ContainsVersion(current, component, pinned) {
			images[component] = pinned.Reference()
		}
	}
	return images
}

// pinnedAt returns what a reference has.
func pinnedAt(r edit.Reference) promotion.Pinned {
	return promotion.Pinned{Repository: r.Repository, Version: r.Version()}
}

// sortedTargets returns the targets of a map in a stable order.
func sortedTargets[V any](of map[promotion.Target]V) []promotion.Target {
	return slices.SortedFunc(maps.Keys(of), promotion.Target.Compare)
}
