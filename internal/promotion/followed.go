package promotion

import (
	"cmp"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/image"
)

// Followed is a component as it stands in the files: one that a pattern matched has
// a name of its own.
type Followed struct {
	Name       string
	Repository image.Repository
	Component  config.Component
}

// FollowedIn returns the components that the files of the places refer to, each once
// and sorted by name.
func FollowedIn(c *config.Config, targets map[Target]Current, in func(Target) bool) []Followed {
	seen := map[string]Followed{}
	for target, present := range targets {
		if !in(target) {
			continue
		}
		for _, r := range present.References {
			if _, known := seen[r.Component]; known {
				continue
			}
			if match, ok := c.Follow(target.Environment, target.Application, r.Repository); ok {
				component, _ := c.Component(match.Component)
				seen[r.Component] = Followed{r.Component, r.Repository, component}
			}
		}
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b Followed) int { return cmp.Compare(a.Name, b.Name) })
}

// Policies returns what orders the versions of each component that the files refer
// to.
func Policies(c *config.Config, targets map[Target]Current) map[string]*image.Policy {
	policies := map[string]*image.Policy{}
	for _, f := range FollowedIn(c, targets, func(Target) bool { return true }) {
		policies[f.Name] = c.Policy(f.Component.Name)
	}
	return policies
}
