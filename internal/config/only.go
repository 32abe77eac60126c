package config

import (
	"slices"
)

// only checks what components are narrowed to.
func (l *loader) only() {
	for i, e := range l.raw.Components.Entries {
		if raw := e.Value.Only; raw != nil && !raw.bad {
			l.config.Components[i].Only = l.onlyOf(e.Key, raw)
		}
	}
	l.index()
}

func (l *loader) onlyOf(component at[string], raw *rawOnly) *Only {
	for _, both := range []struct {
		key  string
		list list
	}{{"applications", raw.Applications}, {"environments", raw.Environments}} {
		if both.list.ok() && len(both.list.Value) == 0 {
			l.failf(both.list.Position, "leave it out for all", "only.%s is an empty list, so %s would be used nowhere", both.key, component.Value)
		}
	}
	if !raw.Applications.set() && !raw.Environments.set() {
		l.failf(raw.Position, "add applications or environments, or remove only", "only of %s says nothing", component.Value)
	}
	for _, glob := range raw.Applications.Value {
		l.appGlob(glob, "only.applications")
	}
	for _, environment := range raw.Environments.Value {
		l.known("environment", environment, l.environmentNames)
	}
	return &Only{Applications: texts(raw.Applications), Environments: texts(raw.Environments)}
}

// allows says whether a component is used in a place.
func (o *Only) allows(environment, application string) bool {
	if o == nil {
		return true
	}
	return (len(o.Environments) == 0 || slices.Contains(o.Environments, environment)) &&
		anyGlobMatches(o.Applications, application)
}

// meets says whether some place uses both components.
func (o *Only) meets(p *Only) bool {
	if o == nil || p == nil {
		return true
	}
	return anyGlobMeets(o.Applications, p.Applications) && shareName(o.Environments, p.Environments)
}

// shareName says whether two lists of names have one in common; an empty list
// means all.
func shareName(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// index sorts the components into those found by their exact name and patterns.
func (l *loader) index() {
	c := l.config
	for i, component := range c.Components {
		switch repository, exact := component.Pattern.Repository(); {
		case exact:
			c.exact[repository] = append(c.exact[repository], i)
		case component.Pattern.String() != "":
			c.patterns = append(c.patterns, i)
		}
	}
	c.bareNames = bareNames(c)
}

// sameImage refuses two components that both want to say which version of an
// image a place gets. An exact name beats a pattern, so only equals can clash.
func (l *loader) sameImage() {
	for repository, components := range l.config.exact {
		l.clashes(components, func(_, _ Component) (string, bool) { return repository.String(), true })
	}
	l.clashes(l.config.patterns, func(a, b Component) (string, bool) {
		return "the same repositories", a.Pattern.Intersects(b.Pattern)
	})
}

// comparePatterns is the price of comparing two patterns, measured in
// comparisons of names.
const comparePatterns = 5

// size is the number of names.
func (o *Only) size() int {
	if o == nil {
		return 0
	}
	return len(o.Applications) + len(o.Environments)
}

func (l *loader) clashes(components []int, both func(a, b Component) (string, bool)) {
	for n, j := range components {
		for _, i := range components[:n] {
			a, b := l.config.Components[i], l.config.Components[j]
			if !l.compare(b.Position, comparePatterns+a.Only.size()*b.Only.size()) {
				return
			}
			if !a.Only.meets(b.Only) {
				continue
			}
			if what, clash := both(a, b); clash {
				l.failf(b.Position, "remove one, or give each an only that the other does not share",
					"%s and %s both follow %s in the same place", a.Name, b.Name, what)
			}
		}
	}
}
