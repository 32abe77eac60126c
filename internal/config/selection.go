package config

import (
	"regexp"
	"strings"

	"promoter/internal/image"
)

// strategyNames are the keys of select of which exactly one is set.
var strategyNames = []string{"semver", "tag", "newest", "numeric", "alphabetical", "release"}

// strategies returns the values of those keys.
func (s *rawSelect) strategies() map[string]at[string] {
	return map[string]at[string]{
		"semver": s.Semver, "tag": s.Tag, "newest": s.Newest,
		"numeric": s.Numeric, "alphabetical": s.Alphabetical, "release": s.Release,
	}
}

func (l *loader) selection(name at[string], raw *rawComponent, component Component) Select {
	s := raw.Select
	if s == nil {
		l.failf(name.Position, `add select: {semver: ">=1"}`, "the component %s has no select", name.Value)
		return Select{}
	}
	if s.bad {
		return Select{}
	}
	out := Select{
		Selection: image.Selection{
			Semver: s.Semver.Value, Tag: s.Tag.Value, Newest: s.Newest.Value, Numeric: s.Numeric.Value,
			Alphabetical: s.Alphabetical.Value, Release: s.Release.Value,
			Filter: s.Filter.Value, Exclude: texts(s.Exclude),
		},
		MinAge:    s.MinAge.Value,
		Platforms: texts(s.Platforms),
	}
	l.platforms(s, component.Artifact)
	chosen, certain := l.strategy(s)
	if l.modifiers(s, chosen) && certain {
		l.policy(component.Name, s, out.Selection)
	}
	if chosen == "release" && isPattern(component.Pattern) {
		l.failf(s.Release.Position, "name one image, or select by tag", "a release belongs to one image, but the component %s is a pattern", name.Value)
	}
	return out
}

// isPattern says that a pattern was read and has a wildcard.
func isPattern(p image.Pattern) bool { return p.String() != "" && !p.IsExact() }

// strategy finds the one key that selects; certain is false after a problem.
func (l *loader) strategy(s *rawSelect) (chosen string, certain bool) {
	all := s.strategies()
	certain = true
	for _, name := range strategyNames {
		value := all[name]
		switch {
		case !value.set():
			continue
		case chosen != "":
			l.failf(value.Position, "keep one of them", "select has both %s and %s", chosen, name)
			certain = false
			continue
		case value.ok() && value.Value == "":
			l.failf(value.Position, "give it a value", "select.%s is empty", name)
			certain = false
		}
		chosen = name
		certain = certain && !value.bad
	}
	if chosen == "" {
		l.failf(s.Position, "write one of "+strings.Join(strategyNames, ", "), "select does not say what to select by")
		return "", false
	}
	return chosen, certain
}

// modifiers checks the regular expressions, each at its own place.
func (l *loader) modifiers(s *rawSelect, chosen string) bool {
	ok := true
	for _, name := range []string{"newest", "numeric", "alphabetical"} {
		ok = l.expression(s.strategies()[name], "select."+name) && ok
	}
	for _, exclude := range s.Exclude.Value {
		ok = l.expression(exclude, "select.exclude") && ok
	}
	if s.Filter.set() && chosen != "semver" && chosen != "" {
		l.failf(s.Filter.Position, "put the group (?P<version>…) into the expression of "+chosen+" itself",
			"select.filter goes with semver only, not with %s", chosen)
		return false
	}
	return l.expression(s.Filter, "select.filter") && ok
}

// expression checks a regular expression.
func (l *loader) expression(value at[string], key string) bool {
	if !value.ok() {
		return !value.bad
	}
	if _, err := regexp.Compile(value.Value); err != nil {
		l.failf(value.Position, "use the syntax of https://github.com/google/re2/wiki/Syntax; single quotes keep backslashes",
			"%s is not a regular expression: %s", key, expressionError(err))
		return false
	}
	return true
}

// expressionError shortens what the regexp package says.
func expressionError(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// policy compiles the selection as a whole.
func (l *loader) policy(component string, s *rawSelect, selection image.Selection) {
	policy, err := image.NewPolicy(selection)
	if err != nil {
		where := s.Position
		for _, value := range s.strategies() {
			if value.set() {
				where = value.Position
			}
		}
		l.failf(where, "see select in docs/configuration.md", "select.%v", err)
		return
	}
	l.config.policies[component] = policy
}

// platform is os/arch with an optional variant, as in an image index.
var platform = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)

func (l *loader) platforms(s *rawSelect, artifact image.Artifact) {
	if s.Platforms.set() && artifact == image.ArtifactChart {
		l.failf(s.Platforms.Position, "remove platforms", "a chart has no platforms")
		return
	}
	for _, p := range s.Platforms.Value {
		if p.ok() && !platform.MatchString(p.Value) {
			l.failf(p.Position, "write os/arch, as in linux/amd64", "%q is not a platform", p.Value)
		}
	}
}
