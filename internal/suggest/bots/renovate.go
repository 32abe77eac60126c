package bots

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/glob"
	"promoter/internal/image"
)

// renovateFiles are where Renovate searches its settings.
// https://docs.renovatebot.com/configuration-options/
var renovateFiles = []string{
	"renovate.json", "renovate.json5", ".github/renovate.json", ".github/renovate.json5", ".gitlab/renovate.json", ".gitlab/renovate.json5",
	".renovaterc", ".renovaterc.json", ".renovaterc.json5",
}

func isRenovate(file string) bool { return slices.Contains(renovateFiles, file) }

// imageManagers are the managers of Renovate that update images in the files of deployments.
var imageManagers = []string{
	"ansible", "argocd", "custom.regex", "docker-compose", "flux", "helm-values", "helmfile", "helmsman", "helmv3",
	"kubernetes", "kustomize", "regex", "tekton",
}

// renovate reads the settings of Renovate. Its presets are not read.
func renovate(file string, content []byte) (rules []Rule, writers []Writer, unread string) {
	where := source("Renovate", file)
	settings := renovateSettings(content)
	if settings == nil {
		return nil, nil, where
	}
	managers := texts(settings, "enabledManagers")
	updatesImages := len(managers) == 0 || slices.ContainsFunc(managers, func(m string) bool { return slices.Contains(imageManagers, m) })
	if text(settings, "enabled") == "false" || text(settings, "docker", "enabled") == "false" || !updatesImages ||
		slices.Contains(texts(settings, "extends"), "docker:disable") {
		return nil, nil, ""
	}
	// isOff reports whether it does not update a repository. A later rule may turn it on again.
	isOff := func(r image.Repository) bool {
		return slices.ContainsFunc(texts(settings, "ignoreDeps"), func(name string) bool {
			return name == r.Familiar() || name == r.String()
		})
	}
	for _, one := range items(settings, "packageRules") {
		applies, exact := packageMatch(one)
		if applies == nil {
			continue
		}
		types := texts(one, "matchUpdateTypes")
		before := isOff
		switch enabled := text(one, "enabled"); {
		case enabled == "false" && len(types) > 0 && !slices.Contains(types, "minor") && !slices.Contains(types, "patch"):
			// Major versions are not selected anyway, and digests are no versions.
		case enabled == "false" && len(types) > 0:
			rule := Rule{Source: where, Applies: applies, NoMinor: true}
			if slices.Contains(types, "patch") {
				rule.Problem = "it updates no patch versions"
			}
			rules = append(rules, rule)
		case enabled == "false" && exact:
			isOff = func(r image.Repository) bool { return applies(r) || before(r) }
		case enabled == "true" && len(types) == 0:
			isOff = func(r image.Repository) bool { return !applies(r) && before(r) }
		}
		if rule := allowed(text(one, "allowedVersions"), text(one, "versioning")); rule.Range != "" || rule.Filter != "" ||
			rule.Exclude != nil || rule.Problem != "" {
			rule.Source, rule.Applies = where, applies
			rules = append(rules, rule)
		}
	}
	writers = append(writers, Writer{
		Bot:     "Renovate",
		File:    file,
		Updates: func(_ string, r image.Repository) bool { return !isOff(r) },
		Off: func(images []image.Repository) string {
			quoted := list(images, func(r image.Repository) string { return `"` + r.Familiar() + `"` })
			return `add {"matchPackageNames": [` + quoted + `], "enabled": false} to its packageRules`
		},
	})
	return rules, writers, ""
}

// packageMatch returns for which repositories a rule is; nil: for no images. It is not
// exact if the rule is for some files or versions of them only.
func packageMatch(rule *yaml.Node) (applies func(image.Repository) bool, exact bool) {
	if sources := texts(rule, "matchDatasources"); len(sources) > 0 && !slices.ContainsFunc(sources, func(p string) bool {
		return matchPattern(p, "docker")
	}) {
		return nil, false
	}
	managers := texts(rule, "matchManagers")
	if len(managers) > 0 && !slices.ContainsFunc(managers, func(m string) bool { return slices.Contains(imageManagers, m) }) {
		return nil, false
	}
	patterns := slices.Concat(texts(rule, "matchPackageNames"), texts(rule, "matchDepNames"))
	for _, prefix := range slices.Concat(texts(rule, "matchPackagePrefixes"), texts(rule, "matchDepPrefixes")) {
		patterns = append(patterns, "/^"+regexp.QuoteMeta(prefix)+"/")
	}
	for _, expression := range slices.Concat(texts(rule, "matchPackagePatterns"), texts(rule, "matchDepPatterns")) {
		patterns = append(patterns, "/"+expression+"/")
	}
	for _, name := range slices.Concat(texts(rule, "excludePackageNames"), texts(rule, "excludeDepNames")) {
		patterns = append(patterns, "!"+name)
	}
	known := []string{
		"matchUpdateTypes", "matchDatasources", "matchPackageNames", "matchDepNames", "matchPackagePrefixes",
		"matchDepPrefixes", "matchPackagePatterns",
		"matchDepPatterns", "excludePackageNames", "excludeDepNames",
	}
	exact = true
	for i := 0; i < len(rule.Content); i += 2 {
		if key := rule.Content[i].Value; strings.HasPrefix(key, "match") || strings.HasPrefix(key, "exclude") {
			exact = exact && slices.Contains(known, key)
		}
	}
	return func(r image.Repository) bool { return matchAll(patterns, r.Familiar(), r.String()) }, exact
}

// matchAll reports whether one of the names matches one of the patterns, if any is positive,
// and none matches one that begins with an exclamation mark.
// https://docs.renovatebot.com/string-pattern-matching/
func matchAll(patterns []string, names ...string) bool {
	positive, matched := false, false
	for _, pattern := range patterns {
		pattern, negative := strings.CutPrefix(pattern, "!")
		matches := slices.ContainsFunc(names, func(name string) bool { return matchPattern(pattern, name) })
		if negative && matches {
			return false
		}
		positive, matched = positive || !negative, matched || matches
	}
	return matched || !positive
}

// matchPattern matches /a regular expression/ or a glob.
func matchPattern(pattern, name string) bool {
	if expression, ok := expressionOf(pattern); ok {
		compiled, err := regexp.Compile(expression)
		return err == nil && compiled.MatchString(name)
	}
	return pattern == "*" || glob.Match(strings.ToLower(pattern), strings.ToLower(name))
}

// expressionOf returns the regular expression between slashes.
func expressionOf(pattern string) (string, bool) {
	inside, begins := strings.CutPrefix(pattern, "/")
	if expression, ok := strings.CutSuffix(inside, "/i"); begins && ok {
		return "(?i)" + expression, true
	}
	expression, ends := strings.CutSuffix(inside, "/")
	return expression, begins && ends
}

// allowed translates allowedVersions, which is a range or a regular expression that may be
// negated, and a versioning that is a regular expression.
func allowed(versions, versioning string) (rule Rule) {
	if expression, ok := strings.CutPrefix(versioning, "regex:"); ok {
		rule.Filter = expression
	}
	negative, negated := strings.CutPrefix(versions, "!")
	expression, isExpression := expressionOf(negative)
	switch {
	case isExpression && negated:
		rule.Exclude = []string{expression}
	case isExpression && rule.Filter != "":
		rule.Problem = "it has two regular expressions"
	case isExpression:
		rule.Filter = expression
	default:
		rule.Range = versions
	}
	return rule
}

// Setting is a key of a file with settings.
type Setting struct {
	Name         string
	Line, Column int
}

// RenovateSettings returns the keys at the top of the settings of Renovate, and those in the
// package rules that apply to images, without what selects packages and versions: that is read.
// There are none if the settings cannot be read, or the file is another one.
func RenovateSettings(file string, content []byte) (top, rules []Setting) {
	if !isRenovate(file) {
		return nil, nil
	}
	settings := renovateSettings(content)
	if settings == nil {
		return nil, nil
	}
	for _, rule := range items(settings, "packageRules") {
		if applies, _ := packageMatch(rule); applies != nil {
			rules = append(rules, keysOf(rule, isUnread)...)
		}
	}
	return keysOf(settings, func(string) bool { return true }), rules
}

// renovateSettings parses settings; nil: they cannot be read.
func renovateSettings(content []byte) *yaml.Node {
	documents, err := parse(fromJSON5(content))
	if err != nil || len(documents) != 1 || documents[0].Kind != yaml.MappingNode {
		return nil
	}
	return documents[0]
}

// isUnread reports whether a key of a package rule is not read.
func isUnread(key string) bool {
	return !strings.HasPrefix(key, "match") && !strings.HasPrefix(key, "exclude") &&
		!slices.Contains([]string{"enabled", "allowedVersions", "versioning"}, key)
}

func keysOf(mapping *yaml.Node, selects func(key string) bool) (found []Setting) {
	for i := 0; i+1 < len(mapping.Content) && mapping.Kind == yaml.MappingNode; i += 2 {
		if key := mapping.Content[i]; selects(key.Value) {
			found = append(found, Setting{key.Value, key.Line, key.Column})
		}
	}
	return found
}
