// Package rules applies the rules of the server file to a repository: the limits of its config,
// and which users may give commands, or bypass conditions and gates.
//
// A rule applies to deployments by their names, branches, and files. Users who can write to
// a repository choose all of these, so a scope fails closed: what no rule of a kind knows
// gets every rule of that kind. Branches and files are what a cluster deploys, so rules that
// name these hold whatever the environment and the application are called.
package rules

import (
	"fmt"
	"slices"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/glob"
	"promoter/internal/promotion"
	"promoter/internal/verb"
)

// dimension is one of the lists of a scope.
type dimension struct {
	named func(serverconfig.Scope) []string
	// matches reports whether the patterns match the deployment, and whether they match all
	// of it, which has several files.
	matches func(patterns []string, d promotion.Deployment) (some, all bool)
}

var dimensions = []dimension{
	{
		func(s serverconfig.Scope) []string { return s.Environments },
		matchName(func(d promotion.Deployment) string { return d.Target.Environment }),
	},
	{
		func(s serverconfig.Scope) []string { return s.Applications },
		matchName(func(d promotion.Deployment) string { return d.Target.Application }),
	},
	{
		func(s serverconfig.Scope) []string { return s.Branches },
		matchName(func(d promotion.Deployment) string { return d.Branch }),
	},
	{func(s serverconfig.Scope) []string { return s.Paths }, matchFiles},
}

// matchName matches one name of a deployment.
func matchName(nameOf func(promotion.Deployment) string) func([]string, promotion.Deployment) (some, all bool) {
	return func(patterns []string, d promotion.Deployment) (some, all bool) {
		matched := glob.MatchAnyName(patterns, nameOf(d))
		return matched, matched
	}
}

// matchFiles matches files with patterns, which are valid. Without files, none match.
func matchFiles(patterns []string, d promotion.Deployment) (some, all bool) {
	var paths []*glob.Path
	for _, pattern := range patterns {
		if path, err := glob.ParsePath(pattern); err == nil {
			paths = append(paths, path)
		}
	}
	all = len(d.Files) > 0
	for _, file := range d.Files {
		matched := slices.ContainsFunc(paths, func(path *glob.Path) bool { _, found := path.Match(file); return found })
		some, all = some || matched, all && matched
	}
	return some, all
}

// coverage is whether a rule applies to a deployment.
type coverage string

// The coverages.
const (
	covered   coverage = "covered"
	notKnown  coverage = "not known" // the rule applies because no rule knows the deployment
	elsewhere coverage = "elsewhere"
)

// coverageOf returns the coverage of a deployment by each of the rules of one kind.
func coverageOf(scopes []serverconfig.Scope, d promotion.Deployment) []coverage {
	result := make([]coverage, len(scopes))
	for i := range result {
		result[i] = covered
	}
	for _, dimension := range dimensions {
		var named []string // by all rules
		for _, scope := range scopes {
			named = append(named, dimension.named(scope)...)
		}
		if len(named) == 0 {
			continue
		}
		_, known := dimension.matches(named, d)
		for i, scope := range scopes {
			patterns := dimension.named(scope)
			if patterns == nil || result[i] == elsewhere {
				continue
			}
			if matched, _ := dimension.matches(patterns, d); matched {
				continue
			}
			result[i] = notKnown
			if known {
				result[i] = elsewhere
			}
		}
	}
	return result
}

// UnknownEnvironments returns the environments of a repository that no rule of a kind knows,
// although rules of that kind name environments: the strictest of them applies there.
// applies reports whether a rule is about the repository, by its patterns.
func UnknownEnvironments(file *serverconfig.Config, c *config.Config, applies func(repositories []string) bool) []config.Problem {
	kinds := map[string][]string{}
	add := func(kind string, scope serverconfig.Scope) {
		if scope.Repositories == nil || applies(scope.Repositories) {
			kinds[kind] = append(kinds[kind], scope.Environments...)
		}
	}
	for _, limit := range file.Limits {
		add("limits", limit.Scope)
	}
	for _, permission := range file.Permissions {
		for _, v := range permission.Verbs {
			add("permissions for "+string(v), permission.Scope)
		}
	}
	names := []string{"limits"}
	for _, v := range verb.Decisions() {
		names = append(names, "permissions for "+string(v))
	}
	var problems []config.Problem
	for _, environment := range c.Environments {
		for _, kind := range names {
			if len(kinds[kind]) > 0 && !glob.MatchAnyName(kinds[kind], environment.Name) {
				problems = append(problems, config.Problem{
					Severity: config.SeverityWarning, Position: environment.Position,
					Message: fmt.Sprintf("no entry of %s in the server file knows the environment %s, so all entries that "+
						"name environments apply to it",
						kind, environment.Name),
					Hint: "name it in an entry, or use paths and branches there",
				})
			}
		}
	}
	return problems
}
