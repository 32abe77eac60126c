package config

import (
	"slices"
	"strings"

	"promoter/internal/image"
)

// Match says which component follows a repository.
type Match struct {
	Component string // as the config file names it
	// Name is what the component is called in snapshots and pull requests: the
	// same for an exact name; for a pattern, the path of the repository.
	Name string
}

// Follow says which component follows a repository in a place. An exact name
// beats a pattern; only, and the components of the application, are honored.
func (c *Config) Follow(environment, application string, r image.Repository) (Match, bool) {
	for _, i := range c.exact[r] {
		if c.used(i, environment, application) {
			return Match{Component: c.Components[i].Name, Name: c.Components[i].Name}, true
		}
	}
	for _, i := range c.patterns {
		if c.Components[i].Pattern.Match(r) && c.used(i, environment, application) {
			return Match{Component: c.Components[i].Name, Name: c.matchedName(r)}, true
		}
	}
	return Match{}, false
}

// used says whether a component is used in a place.
func (c *Config) used(i int, environment, application string) bool {
	if !c.Components[i].Only.allows(environment, application) {
		return false
	}
	if !c.narrowed {
		return true
	}
	members := c.members(application)
	return len(members) == 0 || slices.ContainsFunc(members, func(m at[string]) bool { return m.Value == c.Components[i].Name })
}

// members returns the components that an application lists, none for all.
func (c *Config) members(application string) []at[string] {
	for _, layer := range slices.Backward(c.layers) {
		if layer.raw.Components.set() && globMatch(layer.glob, application) {
			return layer.raw.Components.Value
		}
	}
	return nil
}

// matchedName names a repository that a pattern matched, by its path where that
// is a name and nothing else has it, else by the slug of its path and a hash of
// its full name.
func (c *Config) matchedName(r image.Repository) string {
	path := r.Path()
	if _, taken := c.byName[path]; taken || !c.bareNames {
		return hashedName(path, r.String())
	}
	return nameOf(path, r.String())
}

// bareNames says whether a path alone tells matched repositories apart: all
// patterns are of one registry. Otherwise two registries may have one path.
func bareNames(c *Config) bool {
	hosts := map[string]bool{}
	for _, i := range c.patterns {
		host, _, _ := strings.Cut(c.Components[i].Pattern.String(), "/")
		if strings.Contains(host, "*") {
			return false
		}
		hosts[host] = true
	}
	return len(hosts) <= 1
}

// Component returns a component by its name in the file.
func (c *Config) Component(name string) (Component, bool) {
	i, found := c.byName[name]
	if !found {
		return Component{}, false
	}
	return c.Components[i], true
}

// Policy returns the compiled selection of a component, nil when there is none of
// that name.
func (c *Config) Policy(component string) *image.Policy { return c.policies[component] }
