package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// Observation is what one reconciliation learned before it planned. It is a value: a
// reader returns a new one, and act works on its own copy.
type Observation struct {
	Now      time.Time
	Info     scm.Info
	Unusable string // why nothing can be done in the repository, and what to do about it
	// brokenConfig reports that Unusable is about the config file.
	brokenConfig bool

	Refs  repo.Refs
	Heads map[string]string // the fetched branches
	Open  []scm.PullRequest // of everyone
	// Closed are the closed pull requests of the branches on which commands were given.
	Closed map[string][]scm.PullRequest
	Branch stateBranch          // the state branch
	Trees  map[string]repo.Tree // by environment

	// Promotion is the part that the planner uses. Its State contains Changes.
	Promotion promotion.Observation

	Attempts map[promotion.Target]map[string]int // how often each snapshot landed before, by id
	Statuses map[string]scm.Check                // our own commit status, by commit

	// Changes are to be written to the state branch, with the messages of the user
	// commands among them.
	Changes    []state.Change
	Messages   []string
	CommandsAt time.Time // see Report
	// Refreshed reports that a user asked to read the registries again.
	Refreshed bool

	failures *repo.Failures // the parts that could not be read
}

// withChanges returns the observation as it is after changes of the state. A change of
// a record that cannot be read is left out: that record is a partial error already.
func (o Observation) withChanges(changes ...state.Change) Observation {
	o.Promotion.State, _ = o.Promotion.State.Apply(changes...)
	o.Changes = slices.Concat(o.Changes, changes)
	return o
}

// clone returns a copy whose maps and lists may be changed.
func (o Observation) clone() Observation {
	o.Heads, o.Refs.Branches, o.Statuses = maps.Clone(o.Heads), maps.Clone(o.Refs.Branches), maps.Clone(o.Statuses)
	o.Open, o.Closed, o.Promotion.Open = slices.Clone(o.Open), maps.Clone(o.Closed), maps.Clone(o.Promotion.Open)
	o.failures = o.failures.Clone()
	return o
}

// branchOf returns the branch of an environment.
func (o Observation) branchOf(environment config.Environment) string {
	return cmp.Or(environment.Branch, o.Refs.Default)
}

// baseOf returns the branch that the pull request of a target is merged into; empty
// when the config no longer has the environment.
func (o Observation) baseOf(target promotion.Target) string {
	environment, known := o.Promotion.Config.Environment(target.Environment)
	if !known {
		return ""
	}
	return o.branchOf(*environment)
}

// environmentsByBranch groups the environments, each group in the order of the config.
func (o Observation) environmentsByBranch() map[string][]string {
	grouped := map[string][]string{}
	for _, environment := range o.Promotion.Config.Environments {
		branch := o.branchOf(environment)
		grouped[branch] = append(grouped[branch], environment.Name)
	}
	return grouped
}

// parentsOf returns the parents of a target. A parent in which the application is
// absent is skipped; its own parents take its place.
func (o Observation) parentsOf(target promotion.Target) []config.Parent {
	var parents []config.Parent
	for _, parent := range o.Promotion.Config.Settings(target.Environment, target.Application).After {
		at := promotion.Target{Environment: parent.Environment, Application: target.Application}
		if _, present := o.Promotion.Targets[at]; present {
			parents = append(parents, parent)
		} else {
			parents = append(parents, o.parentsOf(at)...)
		}
	}
	return parents
}

// anyChild reports whether a condition of a child on the target matches.
func (o Observation) anyChild(target promotion.Target, matches func(config.Parent) bool) bool {
	return slices.ContainsFunc(o.Promotion.Config.Environments, func(child config.Environment) bool {
		after := o.Promotion.Config.Settings(child.Name, target.Application).After
		return slices.ContainsFunc(after, func(p config.Parent) bool { return matches(p) && o.leadsTo(p.Environment, target) })
	})
}

// leadsTo reports whether a condition on an environment is one on the target. One on an
// environment in which the application is absent is one on its parents.
func (o Observation) leadsTo(environment string, target promotion.Target) bool {
	if environment == target.Environment {
		return true
	}
	if _, present := o.Promotion.Targets[promotion.Target{Environment: environment, Application: target.Application}]; present {
		return false
	}
	after := o.Promotion.Config.Settings(environment, target.Application).After
	return slices.ContainsFunc(after, func(p config.Parent) bool { return o.leadsTo(p.Environment, target) })
}

// isCurrent reports whether the files of a target contain a snapshot, and no component
// besides it.
func (o Observation) isCurrent(target promotion.Target, snapshot promotion.Snapshot) bool {
	current := o.Promotion.Targets[target]
	unknown := func(r edit.Reference) bool { _, known := snapshot[r.Component]; return !known }
	return !slices.ContainsFunc(current.References, unknown) && containsSnapshot(current, snapshot)
}

// currentIndex returns the index of the landing that the files of a target contain now.
func (o Observation) currentIndex(target promotion.Target, landings []promotion.Landing) int {
	return slices.IndexFunc(landings, func(l promotion.Landing) bool { return o.isCurrent(target, l.Snapshot) })
}

// containsSnapshot reports whether files contain the versions of a snapshot. They may
// refer to other components too.
func containsSnapshot(current promotion.Current, snapshot promotion.Snapshot) bool {
	for component, pinned := range snapshot {
		if !containsVersion(current, component, pinned) {
			return false
		}
	}
	return len(current.References) > 0
}

// containsVersion reports whether all references to a component are at a version.
func containsVersion(current promotion.Current, component string, pinned promotion.Pinned) bool {
	return !slices.ContainsFunc(current.References, func(r edit.Reference) bool {
		here := pinned.Version
		here.Tag, here.Digest = r.Tag, r.Digest
		return r.Component == component && !promotion.SameRollout(here, pinned.Version)
	})
}

// changedBy returns the versions of a snapshot that differ from the files.
func (o Observation) changedBy(landed promotion.Landed) map[string]string {
	images := map[string]string{}
	for component, pinned := range landed.Snapshot {
		if !containsVersion(o.Promotion.Targets[landed.Target], component, pinned) {
			images[component] = pinned.String()
		}
	}
	return images
}

// headsOf returns the branch of a proposal, and the existing branches that the same
// decisions had before the config pushed them, or shared a pull request.
func (o Observation) headsOf(p pullrequest.Proposal) []string {
	heads := []string{promotion.GroupBranch(p.Environment.Name)}
	for _, d := range p.Decisions {
		heads = append(heads, promotion.HeadBranch(d.Environment, d.Application))
	}
	heads = slices.DeleteFunc(heads, func(head string) bool {
		_, open := o.Promotion.Open[head]
		return open || o.Refs.Branches[head] == "" || head == p.Head
	})
	if p.Head != "" {
		heads = append(heads, p.Head)
	}
	return heads
}

// skipReason returns why a proposal is not carried out; nil: it is.
func (o Observation) skipReason(p pullrequest.Proposal) error {
	for _, head := range o.headsOf(p) {
		if err := o.failures.Skipped[head]; err != nil {
			return err
		}
	}
	return nil
}
