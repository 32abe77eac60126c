package input

import (
	"context"
	"slices"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// Index is an observation with what the decisions about many targets need of it.
type Index struct {
	obs          *promotion.Observation
	of           map[string]*promotion.Observation // by application, with its facts
	refs         map[promotion.Target][]Ref
	parents      map[string]bool     // environments that others follow
	Applications map[string][]string // by environment, unsorted

	sources map[promotion.Target][]promotion.Target // behind targets without files
	steps   *steps
}

// NewIndex returns the index of an observation for decisions that end with the context, and with their budget of
// steps: see Err.
func NewIndex(ctx context.Context, observation promotion.Observation) *Index {
	size := len(observation.Targets)
	if observation.Applications != nil {
		size = len(observation.Applications) * len(observation.Config.Environments)
	}
	ix := &Index{
		obs:          &observation,
		of:           map[string]*promotion.Observation{},
		refs:         make(map[promotion.Target][]Ref, size),
		parents:      parentsIn(observation.Config),
		Applications: map[string][]string{},
		sources:      map[promotion.Target][]promotion.Target{},
		steps:        &steps{ended: ctx.Err, left: maxSteps},
	}
	for target, current := range ix.obs.Selected() {
		ix.refs[target] = refsIn(ix.observation(target.Application), target, current, ix.parents[target.Environment])
		ix.Applications[target.Environment] = append(ix.Applications[target.Environment], target.Application)
	}
	return ix
}

// Len returns how many targets have files.
func (ix *Index) Len() int { return len(ix.refs) }

// observation returns the observation with the facts of an application. Nearly all have none: they
// share one.
func (ix *Index) observation(application string) *promotion.Observation {
	if ix.obs.FactsOf == nil {
		return ix.obs
	}
	facts := ix.obs.FactsOf[application]
	if len(facts) == 0 {
		application = ""
	}
	of, known := ix.of[application]
	if !known {
		with := *ix.obs
		with.Facts, of = facts, &with
		ix.of[application] = of
	}
	return of
}

// ApplicationsOf returns the applications that an environment has files of, or
// could get from an upstream environment, sorted.
func (ix *Index) ApplicationsOf(environment string) []string {
	names := slices.Clone(ix.Applications[environment])
	for _, ancestor := range ix.obs.Config.Ancestors(environment) {
		names = append(names, ix.Applications[ancestor]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 && ix.obs.Unavailable[environment] != "" {
		return []string{""}
	}
	return names
}

// sourcesBehind returns the targets behind a parent environment that the snapshot of an application comes from, as
// Observation.Sources does, each looked for once.
func (ix *Index) sourcesBehind(parent, application string) []promotion.Target {
	target := promotion.Target{Environment: parent, Application: application}
	_, exists := ix.obs.Targets[target]
	_, unavailable := ix.obs.Unavailable[parent]
	if exists || unavailable {
		return []promotion.Target{target}
	}
	found, known := ix.sources[target]
	if !known {
		for _, next := range ix.obs.Config.Settings(parent, application).After {
			behind := ix.sourcesBehind(next.Environment, application)
			if !ix.steps.spend(1 + len(behind)) {
				break
			}
			found = append(found, behind...)
		}
		found = sortedTargets(found)
		ix.sources[target] = found
	}
	return found
}

func sortedTargets(targets []promotion.Target) []promotion.Target {
	slices.SortFunc(targets, promotion.Target.Compare)
	return slices.Compact(targets)
}

func refOf(refs []Ref, component string) (Ref, bool) {
	for i := range refs { // by index: a Ref is large
		if refs[i].Component == component {
			return refs[i], true
		}
	}
	return Ref{}, false
}

// IsMoving reports whether a policy selects a moving tag.
func IsMoving(policy *image.Policy) bool {
	if policy == nil {
		return false
	}
	_, moving := policy.Moving()
	return moving
}

// parentsIn returns the environments that others follow, for any application.
func parentsIn(c *config.Config) map[string]bool {
	parents := map[string]bool{}
	for _, child := range c.Environments {
		for _, parent := range c.Ancestors(child.Name) {
			parents[parent] = true
		}
	}
	return parents
}
