package input

import (
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
}

// NewIndex returns the index of an observation.
func NewIndex(observation promotion.Observation) *Index {
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
	}
	for target, current := range ix.obs.Selected() {
		ix.refs[target] = refsIn(ix.observation(target.Application), target, current.References, ix.parents[target.Environment])
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
