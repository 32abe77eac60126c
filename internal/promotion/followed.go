package promotion

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/image"
)

// Followed is a component as the files refer to it: one that a pattern matched has
// a name of its own.
type Followed struct {
	Name       string
	Repository image.Repository
	Component  config.Component
}

// FollowedIn returns the components that the files of some of the targets refer
// to, each once and sorted by name.
func FollowedIn(c *config.Config, targets iter.Seq2[Target, Current], selected func(Target) bool) []Followed {
	seen := map[string]Followed{}
	for target, current := range targets {
		if !selected(target) {
			continue
		}
		for _, r := range current.References {
			if _, known := seen[r.Component]; known {
				continue
			}
			if match, ok := c.FollowAs(target.Environment, target.Application, r.Repository, r.Component); ok {
				component, _ := c.Component(match.Component)
				seen[r.Component] = Followed{r.Component, r.Repository, component}
			}
		}
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b Followed) int { return cmp.Compare(a.Name, b.Name) })
}

// Everywhere selects all targets.
func Everywhere(Target) bool { return true }

// Policies returns the policies that order the versions of components.
func Policies(c *config.Config, followed []Followed) map[string]*image.Policy {
	policies := make(map[string]*image.Policy, len(followed))
	for _, f := range followed {
		policies[f.Name] = c.Policy(f.Component.Name)
	}
	return policies
}

// Verifications returns what signatures must prove about the versions of components: what the
// config requires, and what the server does. Nil: nothing.
func Verifications(followed []Followed, server func(image.Repository) []trust.Requirement) map[string][]trust.Requirement {
	required := map[string][]trust.Requirement{}
	for _, f := range followed {
		if f.Component.Verify != nil {
			required[f.Name] = append(required[f.Name], f.Component.Verify.For(f.Repository))
		}
		if server != nil {
			for _, v := range server(f.Repository) {
				required[f.Name] = append(required[f.Name], v.For(f.Repository))
			}
		}
	}
	return required
}
