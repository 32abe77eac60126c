package unused

import (
	"slices"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/glob"
	"promoter/internal/image"
	receiverkind "promoter/internal/receiver"
)

type (
	destination = serverconfig.Destination
	receiver    = serverconfig.Receiver
)

// forges warns of forges that no repository is on. Sources may be on one without repositories.
func forges(f *finder) {
	users := ""
	if f.Server.API.OIDC != nil {
		users = f.Server.API.OIDC.Mapping.UserForge
	}
	for _, forge := range f.Server.Forges {
		has := func(r serverconfig.Repository) bool { return r.Forge == forge.Name }
		used := forge.App != nil || len(f.Server.Sources) > 0 || users == forge.Name || slices.ContainsFunc(f.Server.Repositories, has)
		if !used {
			f.warn(forge.Position, "add it to repositories, or remove it", "no repository is on the forge %s", forge.Name)
		}
	}
}

// scoped is an entry of the server file that applies to some repositories and environments.
type scoped struct {
	config.Position
	key string
	serverconfig.Scope
}

// scopes returns the entries with scopes.
func scopes(file *serverconfig.Config) (all []scoped) {
	add := func(at config.Position, key string, scope serverconfig.Scope) {
		all = append(all, scoped{at, key, scope})
	}
	ofRepositories := func(globs []string) serverconfig.Scope { return serverconfig.Scope{Repositories: globs} }
	for _, one := range file.Limits {
		add(one.Position, "limits", one.Scope)
	}
	for _, one := range file.Permissions {
		add(one.Position, "permissions", one.Scope)
	}
	for _, one := range file.Bypass {
		add(one.Position, "bypass", one.Scope)
	}
	for _, one := range file.AfterLanding {
		add(one.Position, "afterLanding "+one.Name, one.Scope)
	}
	for _, one := range file.Verify {
		add(one.Position, "verify", ofRepositories(one.Repositories))
	}
	for _, one := range file.Sources {
		add(one.Position, "usableBy of sources", ofRepositories(one.UsableBy))
	}
	for _, one := range file.Registries {
		add(one.Position, "usableBy of registry "+one.Host, ofRepositories(one.UsableBy))
	}
	for _, one := range file.Destinations {
		add(one.Position, "destination "+one.Name, ofRepositories(one.Repositories))
	}
	for _, one := range file.Receivers {
		add(one.Position, "receiver "+one.Name, ofRepositories(one.Repositories))
		for _, scope := range one.Snapshots {
			add(one.Position, "snapshots of receiver "+one.Name, scope)
		}
	}
	for _, one := range file.API.Tokens {
		add(one.Position, "token "+one.Name, serverconfig.Scope{Repositories: one.Scope.Repositories, Environments: one.Scope.Environments})
	}
	add(config.Position{File: file.File, Line: 1, Column: 1}, "rendering", ofRepositories(file.Rendering))
	return all
}

// repositoryGlobs warns of globs that match no repository, so that a limit may not apply where it should.
func repositoryGlobs(f *finder) {
	for _, one := range scopes(f.Server) {
		for _, pattern := range one.Repositories {
			if !slices.ContainsFunc(f.Names, func(matches Matcher) bool { return matches([]string{pattern}) }) {
				f.warn(one.Position, correct, "no repository matches %q of %s", pattern, one.key)
			}
		}
	}
}

// environmentGlobs warns of globs that match no environment of any repository.
func environmentGlobs(f *finder) {
	var known []string
	for _, r := range f.Repositories {
		known = append(known, r.Config.Order()...)
	}
	for _, one := range scopes(f.Server) {
		for _, pattern := range one.Environments {
			if !slices.ContainsFunc(known, func(name string) bool { return glob.MatchName(pattern, name) }) {
				f.warn(one.Position, meant(pattern, known, correct), "no environment is called %s in %s", pattern, one.key)
			}
		}
	}
}

// verifiedImages warns of signatures that are required of images that no repository follows.
func verifiedImages(f *finder) {
	for _, one := range f.Server.Verify {
		for _, pattern := range one.Images {
			shares := func(c config.Component) bool { return mayShare(pattern, c.Pattern) }
			follows := func(r Repository) bool { return slices.ContainsFunc(r.Config.Components, shares) }
			if !slices.ContainsFunc(f.Repositories, follows) {
				f.warn(one.Position, correct, "no component follows an image that matches %q of verify", pattern)
			}
		}
	}
}

// mayShare reports whether two patterns may match the same repository.
func mayShare(a, b image.Pattern) bool {
	if repository, exact := b.Repository(); exact {
		return a.Match(repository)
	}
	if repository, exact := a.Repository(); exact {
		return b.Match(repository)
	}
	return true
}

func destinations(f *finder) {
	for _, d := range f.Server.Destinations {
		used := func(r Repository) bool {
			return r.named(d.Repositories) && slices.Contains(r.Config.NotifyDestinations(), d.Name)
		}
		if !slices.ContainsFunc(f.Repositories, used) {
			f.warn(d.Position, "name it under notify of a config file, or remove it",
				"no config file sends notifications to the destination %s", d.Name)
		}
	}
}

// receivers warns of receivers of reports about health that no config file names.
func receivers(f *finder) {
	for _, one := range f.Server.Receivers {
		kind, _ := receiverkind.Find(one.Kind)
		asked := func(a serverconfig.AfterLanding) bool { return a.ArgoCD != nil && a.ArgoCD.Receiver == one.Name }
		if !kind.Health || len(one.Snapshots) > 0 || slices.ContainsFunc(f.Server.AfterLanding, asked) {
			continue
		}
		names := func(r Repository) bool { return slices.Contains(r.Config.Receivers(), one.Name) }
		if !slices.ContainsFunc(f.Repositories, names) {
			f.warn(one.Position, "name it in health.from of an environment, or remove it",
				"no environment reads the health that the receiver %s reports", one.Name)
		}
	}
}
