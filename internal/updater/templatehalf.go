package updater

import (
	"regexp"
	"slices"
	"strings"
)

// halfName matches a template line with a key and a value that may be half of a
// name.
var halfName = regexp.MustCompile(`(?m)^[ \t]*(?:-[ \t]+)?["']?([A-Za-z_]+)["']?:[ \t]+["']?([A-Za-z0-9][A-Za-z0-9._/:-]*)["']?[ \t]*,?[ \t]*(?:#.*)?\r?$`)

// Suffixes, in lower case, of keys that name a registry or a folder in one, and
// of keys that name a repository in it.
var (
	registryKeys = []string{"registry", "hub", "repository", "repo", "url"}
	innerKeys    = []string{"repository", "repo", "image", "chart"}
)

// maxRegistries limits how many registries of a template each name is tried
// with.
const maxRegistries = 32

// registriesIn returns the first registries that a template names.
func registriesIn(content []byte) []string {
	var found []string
	for _, match := range halfName.FindAllSubmatch(content, -1) {
		name := string(match[2])
		if endsInAny(string(match[1]), registryKeys) && !slices.Contains(found, name) {
			found = append(found, name)
		}
		if len(found) == maxRegistries {
			break
		}
	}
	return found
}

// joined returns the followed repository that results from the name on a line
// and a registry in the same template.
func (f *finder) joined(line string) (name string, followed Followed, found bool) {
	match := halfName.FindStringSubmatch(line)
	if match == nil || !endsInAny(match[1], innerKeys) {
		return "", Followed{}, false
	}
	for _, registry := range f.registries {
		name = joinName(registry, match[2])
		if followed, found = f.follow(name); found {
			return name, followed, true
		}
	}
	return "", Followed{}, false
}

func endsInAny(key string, ends []string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(key, end) })
}
