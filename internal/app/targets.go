package app

import (
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// narrow finds the repositories of the file that were asked for, each once and in
// the order of the file. Without any, they are all of the file, and all on which
// its Apps are installed.
func (s *Server) narrow(asked []string) error {
	wanted := map[int]bool{}
	var others []target
	for _, text := range asked {
		matching := matchingRepositories(s.file, text)
		installed := s.onApps(text)
		switch len(matching) + len(installed) {
		case 0:
			return fault.New(fault.Invalid, "--repo %s: %s has no such repository; it has %s", outbound.Scrub(text), s.file.File, repositoryList(s.file))
		case 1:
		default:
			return fault.New(fault.Invalid, "--repo %s: several forges have one, or may have: write FORGE:%[1]s", outbound.Scrub(text))
		}
		for _, i := range matching {
			wanted[i] = true
		}
		others = append(others, installed...)
	}
	for i, repository := range s.file.Repositories {
		if len(asked) == 0 || wanted[i] {
			s.targets = append(s.targets, targetOn(s.forgeNamed(repository.Forge), repository.Name))
		}
	}
	s.targets = append(s.targets, uniqueTargets(others)...)
	if len(asked) == 0 {
		s.everywhere = s.appsWithoutRepositories()
	}
	if len(s.targets) == 0 && len(s.everywhere) == 0 {
		return fault.New(fault.Invalid, "%s names no repositories: add some under repositories", s.file.File)
	}
	return nil
}

func targetOn(forge config.Forge, name string) target {
	rights := "the credential of the forge " + forge.Name
	if forge.App != nil {
		rights = "the App of the forge " + forge.Name
	}
	return target{name: name, forge: forge, rights: rights}
}

func uniqueTargets(all []target) []target {
	seen := map[string]bool{}
	var unique []target
	for _, t := range all {
		key := t.forge.Name + ":" + strings.ToLower(t.name)
		if !seen[key] {
			unique = append(unique, t)
		}
		seen[key] = true
	}
	return unique
}

func (s *Server) forgeNamed(name string) config.Forge {
	for _, forge := range s.file.Forges {
		if forge.Name == name {
			return forge
		}
	}
	return config.Forge{} // loading a file refuses names that it does not explain
}

// appsWithoutRepositories are the forges with an App of which the file names no
// repository.
func (s *Server) appsWithoutRepositories() []config.Forge {
	named := map[string]bool{}
	for _, repository := range s.file.Repositories {
		named[repository.Forge] = true
	}
	var apps []config.Forge
	for _, forge := range s.file.Forges {
		if forge.App != nil && !named[forge.Name] {
			apps = append(apps, forge)
		}
	}
	return apps
}

// onApps are the repositories that a text of --repo may mean on Apps that work
// everywhere: only GitHub knows.
func (s *Server) onApps(text string) []target {
	forge, name, qualified := strings.Cut(text, ":")
	if !qualified {
		forge, name = "", text
	}
	owner, short, whole := strings.Cut(name, "/")
	if !whole || owner == "" || short == "" || strings.Contains(short, "/") || len(matchingRepositories(s.file, text)) > 0 {
		return nil
	}
	var found []target
	for _, app := range s.appsWithoutRepositories() {
		if forge == "" || forge == app.Name {
			found = append(found, targetOn(app, name))
		}
	}
	return found
}

// matchingRepositories returns the entries that a text of --repo means.
func matchingRepositories(file *config.Server, text string) []int {
	forge, name, qualified := strings.Cut(text, ":")
	if !qualified {
		forge, name = "", text
	}
	var matching []int
	for i, repository := range file.Repositories {
		if repository.Name == name && (forge == "" || repository.Forge == forge) {
			matching = append(matching, i)
		}
	}
	return matching
}
