package config

import (
	"regexp"
	"strings"
	"time"

	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// Select is which version of a component is promoted.
type Select struct {
	image.Selection
	MinAge    time.Duration
	Platforms []string // os/arch or os/arch/variant
}

// rawSelect is the rule that selects a version. Set exactly one of semver, tag, newest,
// numeric, alphabetical, and release.
type rawSelect struct {
	strictyaml.Origin
	// Highest semantic version in this range, such as `>=1.4 <2` or `^3`. A prerelease counts only if the range
	// names one, such as `>=1.4.0-0`. Not every number and suffix is part of a version: see
	// docs/configuration.md#order-of-semver.
	Semver strictyaml.Located[string] `yaml:"semver"`
	// Digest that this tag points to. Each new digest is a version.
	Tag strictyaml.Located[string] `yaml:"tag"`
	// Tag of the image that was created last, among the tags that match this regular expression.
	Newest strictyaml.Located[string] `yaml:"newest"`
	// Tag with the highest number, among the tags that match this regular expression.
	Numeric strictyaml.Located[string] `yaml:"numeric"`
	// Last tag in alphabetical order, among the tags that match this regular expression.
	Alphabetical strictyaml.Located[string] `yaml:"alphabetical"`
	// Tag of the latest release of the repository `FORGE/OWNER/REPO`. Not with a glob as the component.
	Release strictyaml.Located[string] `yaml:"release"`
	// Regular expression of the tags that count, with `semver` only. Its group `version` is the version. It permits
	// versions of four numbers, long numbers, and `_`: see docs/configuration.md#order-of-semver.
	Filter strictyaml.Located[string] `yaml:"filter"`
	// Regular expressions of tags that are never selected.
	Exclude strictyaml.List `yaml:"exclude"`
	// How long promoter must have known a version before it is selected. Default: `0`.
	MinAge strictyaml.Located[time.Duration] `yaml:"minAge"`
	// Platforms that a version must have, as `os/arch` or `os/arch/variant`. Not with `chart`. Default: any.
	Platforms strictyaml.List `yaml:"platforms"`
}

// strategies are the keys of select of which exactly one is present.
var strategies = []struct {
	name  string
	value func(*rawSelect) strictyaml.Located[string]
	regex bool
}{
	{"semver", func(s *rawSelect) strictyaml.Located[string] { return s.Semver }, false},
	{"tag", func(s *rawSelect) strictyaml.Located[string] { return s.Tag }, false},
	{"newest", func(s *rawSelect) strictyaml.Located[string] { return s.Newest }, true},
	{"numeric", func(s *rawSelect) strictyaml.Located[string] { return s.Numeric }, true},
	{"alphabetical", func(s *rawSelect) strictyaml.Located[string] { return s.Alphabetical }, true},
	{"release", func(s *rawSelect) strictyaml.Located[string] { return s.Release }, false},
}

func strategyNames() []string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.name)
	}
	return names
}

// platform is os/arch with an optional variant, as in an image index.
var platform = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)

// loadSelect reads the selection of a component and compiles it, nil after a problem.
func loadSelect(report *strictyaml.Report, component *rawComponent, out *Component) *image.Policy {
	s := component.Select
	switch {
	case s == nil && component.HasUnknownKey():
		return nil
	case s == nil:
		report.Errorf(out.Position, `add select: {semver: ">=1"}`, "the component %s has no select", out.Name)
		return nil
	case s.Invalid:
		return nil
	}
	out.Select = Select{
		Selection: image.Selection{
			Semver: s.Semver.Value, Tag: s.Tag.Value, Newest: s.Newest.Value, Numeric: s.Numeric.Value,
			Alphabetical: s.Alphabetical.Value, Release: s.Release.Value,
			Chart: out.Artifact == image.ArtifactChart, Filter: s.Filter.Value, Exclude: s.Exclude.Strings(),
		},
		MinAge:    s.MinAge.Value,
		Platforms: s.Platforms.Strings(),
	}
	var chosen string
	var chosenAt Position
	valid := true
	for _, strategy := range strategies {
		value := strategy.value(s)
		if strategy.regex {
			valid = regexpWithVersion(report, value, "select."+strategy.name) && valid
		}
		switch {
		case !value.IsSet():
		case chosen != "":
			report.Errorf(value.Position, "keep one of them", "select has both %s and %s", chosen, strategy.name)
			valid = false
		case value.Valid() && value.Value == "":
			report.Errorf(value.Position, "give it a value", "select.%s is empty", strategy.name)
			chosen = strategy.name
			chosenAt = value.Position
			valid = false
		default:
			chosen = strategy.name
			chosenAt = value.Position
			valid = valid && !value.Invalid
		}
	}
	if chosen == "" {
		report.ErrorIf(!s.HasUnknownKey(), s.Position, "write one of "+strings.Join(strategyNames(), ", "), "select has no strategy")
		valid = false
	}
	for _, exclude := range s.Exclude.Items {
		valid = report.Regexp(exclude, "select.exclude") && valid
	}
	if s.Filter.IsSet() && chosen != "semver" && chosen != "" {
		report.Errorf(s.Filter.Position, "put the group (?P<version>…) into the expression of "+chosen+" itself",
			"select.filter requires semver, not %s", chosen)
		valid = false
	} else {
		valid = regexpWithVersion(report, s.Filter, "select.filter") && valid
	}
	if s.Platforms.IsSet() && out.Artifact == image.ArtifactChart {
		report.Errorf(s.Platforms.Position, "remove platforms", "a chart has no platforms")
	} else {
		for _, p := range s.Platforms.Items {
			report.ErrorIf(p.Valid() && !platform.MatchString(p.Value), p.Position, "write os/arch, as in linux/amd64",
				"%q is not a platform", p.Value)
		}
	}
	report.ErrorIf(chosen == "release" && isPattern(out.Pattern), chosenAt, "name one image, or select by tag",
		"a release belongs to one image, but the component %s is a pattern", out.Name)
	if chosen == "tag" && image.Pin(component.Pin.Or("")) == image.PinTag {
		report.Errorf(component.Pin.Position, "write pin: tag+digest or pin: digest",
			"pin: tag cannot follow the moving tag of select.tag, because the written text would never change")
	}
	if !valid {
		return nil
	}
	policy, err := image.NewPolicy(out.Select.Selection)
	if err != nil {
		report.Errorf(chosenAt, "see docs/reference/config.md#componentsnameselect"+chosen, "select.%v", err)
	}
	return policy
}

// regexpWithVersion checks a regular expression whose group version is compared.
func regexpWithVersion(report *strictyaml.Report, value strictyaml.Located[string], key string) bool {
	if !report.Regexp(value, key) {
		return false
	}
	group := image.StrayGroup(value.Value)
	report.ErrorIf(group != "", value.Position, "name it version, as in (?P<version>…), or leave out the name",
		"the group %s of %s has no meaning: only the group version is compared", group, key)
	return group == ""
}

// isPattern reports whether a pattern was parsed and has a wildcard.
func isPattern(p image.Pattern) bool { return p.String() != "" && !p.IsExact() }
