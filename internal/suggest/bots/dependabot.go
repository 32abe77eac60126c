package bots

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/glob"
	"promoter/internal/image"
)

func isDependabot(file string) bool {
	return file == ".github/dependabot.yml" || file == ".github/dependabot.yaml"
}

// dockerEcosystems are those that update images.
var dockerEcosystems = []string{"docker", "docker-compose", "helm"}

// dependabot reads the settings of Dependabot.
// https://docs.github.com/en/code-security/dependabot/working-with-dependabot/dependabot-options-reference
func dependabot(file string, content []byte) (rules []Rule, writers []Writer, unread string) {
	documents, err := parse(content)
	if err != nil || len(documents) != 1 {
		return nil, nil, source("Dependabot", file)
	}
	where := source("Dependabot", file)
	for _, update := range items(documents[0], "updates") {
		if !slices.Contains(dockerEcosystems, text(update, "package-ecosystem")) || text(update, "open-pull-requests-limit") == "0" {
			continue
		}
		var ignored []string // names that it never updates
		for _, ignore := range items(update, "ignore") {
			name := text(ignore, "dependency-name")
			versions := texts(ignore, "versions")
			types := texts(ignore, "update-types")
			if len(versions) == 0 && (len(types) == 0 || len(types) == 3) {
				ignored = append(ignored, name)
				continue
			}
			rule := ignoreRule(versions, types)
			rule.Source, rule.Applies = where, func(r image.Repository) bool { return dependabotName(name, r) }
			rules = append(rules, rule)
		}
		directories := append(texts(update, "directories"), texts(update, "directory")...)
		writers = append(writers, Writer{
			Bot:  "Dependabot",
			File: file,
			Updates: func(file string, r image.Repository) bool {
				return !slices.ContainsFunc(ignored, func(name string) bool { return dependabotName(name, r) }) &&
					slices.ContainsFunc(directories, func(d string) bool { return inDirectory(d, path.Dir(file)) })
			},
			Off: func(images []image.Repository) string {
				entries := list(images, func(r image.Repository) string { return "{dependency-name: " + r.Path() + "}" })
				return "add them to ignore of its " + text(update, "package-ecosystem") + " updates: [" + entries + "]"
			},
		})
	}
	return rules, writers, ""
}

// dependabotName reports whether a name, with * for any text, is that of the repository:
// the path, without the registry.
func dependabotName(name string, r image.Repository) bool {
	return glob.MatchName(name, r.Path()) || glob.MatchName(name, r.Familiar())
}

// inDirectory reports whether a folder is the directory of an update, in which * matches
// one segment and ** any.
func inDirectory(directory, folder string) bool {
	directory = strings.Trim(directory, "/")
	if folder == "." {
		folder = ""
	}
	return directory == folder || directory != "" && glob.Match(directory, folder)
}

// ignoreRule limits versions to those that are not ignored.
func ignoreRule(versions, types []string) (rule Rule) {
	rule.NoMinor = slices.Contains(types, "version-update:semver-minor")
	if slices.Contains(types, "version-update:semver-patch") {
		return Rule{Problem: "it ignores patch versions"}
	}
	for _, ignored := range versions {
		rest, ok := notIn(ignored)
		if !ok {
			return Rule{Problem: "it ignores " + strconv.Quote(ignored)}
		}
		rule.Range = image.Intersect(rule.Range, rest)
	}
	return rule
}

// requirement is one requirement as Bundler writes them, or a version with an x.
var requirement = regexp.MustCompile(`^(>=|<=|>|<|~>|=)?\s*v?(\d+(?:\.\d+){0,2})(\.[x*])?$`)

// notIn returns the range of all versions outside of one requirement.
// https://guides.rubygems.org/patterns/#declaring-dependencies
func notIn(ignored string) (string, bool) {
	parts := requirement.FindStringSubmatch(strings.TrimSpace(ignored))
	if parts == nil || parts[3] != "" && parts[1] != "" {
		return "", false
	}
	version, numbers := parts[2], strings.Split(parts[2], ".")
	switch {
	case parts[3] != "": // 4.x: from 4 up to 5
		return outside(version, numbers), true
	case parts[1] == "~>" && len(numbers) > 1: // ~> 4.2: from 4.2 up to 5
		return outside(version, numbers[:len(numbers)-1]), true
	case parts[1] == "~>":
		return "", false
	}
	return map[string]string{">=": "<", ">": "<=", "<": ">=", "<=": ">", "=": "!=", "": "!="}[parts[1]] + version, true
}

// outside returns the range below a version, and from the one after the last of numbers.
func outside(low string, numbers []string) string {
	last, _ := strconv.Atoi(numbers[len(numbers)-1])
	high := append(slices.Clone(numbers[:len(numbers)-1]), strconv.Itoa(last+1))
	return fmt.Sprintf("<%s || >=%s", low, strings.Join(high, "."))
}
