package decision

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// readImages returns the images of a rejection, or of its end, by component.
func readImages(ctx context.Context, d Decision, r repository) (map[string]string, error) {
	if len(d.Images) == 0 {
		return nil, nil
	}
	images := map[string]string{}
	for _, text := range d.Images {
		component, pinned, err := resolveImage(ctx, d, r, text)
		if err != nil {
			return nil, err
		}
		if other, twice := images[component]; twice && other != pinned.Reference() {
			return nil, fault.New(fault.Invalid, "%s: two versions of %s at once: %s one after the other", text, component, d.Verb)
		}
		images[component] = pinned.Reference()
	}
	return images, nil
}

// resolveImage reads COMPONENT:TAG or REPOSITORY:TAG, with or without a digest, and
// queries the registry for a missing digest. A tag that is gone is rejected by its name. A version
// is allowed again by the name that the user gives: what was rejected may have had another digest.
func resolveImage(ctx context.Context, d Decision, r repository, text string) (component string, pinned promotion.Pinned, err error) {
	component, reference, err := parseImage(d, r, text)
	if err != nil {
		return "", promotion.Pinned{}, err
	}
	if reference.Digest == "" && d.Verb != verb.Unreject {
		fact := promotion.Fact{Repository: reference.Repository, Tag: reference.Tag}
		version, err := r.workspace.Reconciler.Clients.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: component})
		if err != nil {
			return "", promotion.Pinned{}, err
		}
		reference.Digest = version.Digest
	}
	version := reference.Version()
	return component, promotion.Pinned{Repository: reference.Repository, Version: version}, nil
}

// withRepositories replaces the names of components in explicit versions.
func withRepositories(texts []string, r repository) ([]string, error) {
	var whole []string
	for _, text := range texts {
		named, err := withRepository(text, r)
		if err != nil {
			return nil, err
		}
		whole = append(whole, named)
	}
	_, err := image.ParseExplicitVersions(whole, strings.NewReader(""))
	return whole, err
}

// withRepository replaces the name of a component at the start of a text with its
// repository.
func withRepository(text string, r repository) (string, error) {
	name, _, _ := strings.Cut(text, "@")
	name, _, _ = strings.Cut(name, ":")
	known, ok := r.config.Component(name)
	if !ok || strings.Contains(text, "/") || !r.mayName(known.Name) {
		return text, nil
	}
	if known.Template != "" && r.captured == "" {
		return "", fault.New(fault.Invalid, "%q: %s is another image in each application: "+
			"name the application with --app, or write the whole REPOSITORY:TAG", text, name)
	}
	repository, one := known.RepositoryIn(r.captured)
	if !one {
		return "", fault.New(fault.Invalid, "%q: %s stands for many repositories: write the whole REPOSITORY:TAG", text, name)
	}
	return repository.String() + strings.TrimPrefix(text, name), nil
}

// parseImage resolves a component name, or finds the component of a repository.
func parseImage(d Decision, r repository, text string) (component string, reference image.Reference, err error) {
	c := r.config
	whole, err := withRepository(text, r)
	if err != nil {
		return "", image.Reference{}, err
	}
	reference, err = image.Parse(whole)
	if err != nil {
		return "", image.Reference{}, fault.New(fault.Invalid, "%q: %w; the components are %s", text, err, fault.List(componentNames(r)))
	}
	if reference.Tag == "" && reference.Digest == "" {
		return "", image.Reference{}, fault.New(fault.Invalid, "%q names no version: add :TAG, @DIGEST or both", text)
	}
	for _, name := range c.Order() {
		environment, _ := c.Environment(name)
		if !r.covers(promotion.Target{Environment: name}) {
			continue
		}
		for _, repository := range append(environment.MirroredBy(reference.Repository), reference.Repository) {
			if !r.mayFollow(repository) {
				continue
			}
			all := c.FollowAll(name, cmp.Or(d.Application, config.DefaultApplication), repository)
			if len(all) > 0 {
				reference.Repository = repository
				return meant(c, all, text, reference.Tag), reference, nil
			}
		}
	}
	return "", image.Reference{}, fault.New(fault.Invalid, "%q: no component follows %s; the components are %s",
		text, reference.Repository.Familiar(), fault.List(componentNames(r)))
}

// meant returns which of the components of one repository a text means: the one that it begins with,
// or the one that selects the tag, or else the first.
func meant(c *config.Config, all []config.Match, text, tag string) string {
	i := slices.IndexFunc(all, func(m config.Match) bool {
		return strings.HasPrefix(text, m.Name+":") || strings.HasPrefix(text, m.Name+"@")
	})
	if i < 0 {
		i = slices.IndexFunc(all, func(m config.Match) bool { return c.Policy(m.Component).Admits(tag) })
	}
	return all[max(i, 0)].Name
}

// componentNames returns the names of the components that may be named to the user.
func componentNames(r repository) []string {
	names := make(map[string]bool, len(r.config.Components))
	for _, component := range r.config.Components {
		if r.mayName(component.Name) {
			names[component.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// usage is what files refer to: components by their names in the config, and the repositories of
// their images.
type usage struct {
	components   map[string]bool
	repositories map[image.Repository]bool
}

// mayName reports whether a component may be named to the user of a decision. To a user whose scope has
// limits, one to which no file in the scope refers does not exist.
func (r repository) mayName(component string) bool {
	return r.known == nil || r.known.components[component]
}

// mayFollow is mayName for an image repository.
func (r repository) mayFollow(repository image.Repository) bool {
	return r.known == nil || r.known.repositories[repository]
}

// usageInScope returns what the files of the targets in the scope refer to; nil if the scope has no
// limits. What the config permits is no measure: a component without `only` may be used everywhere.
func usageInScope(ctx context.Context, r repository) (*usage, error) {
	if r.covers(promotion.Target{Environment: state.All, Application: state.All}) {
		return nil, nil //nolint:nilnil // no limits
	}
	known := &usage{components: map[string]bool{}, repositories: map[image.Repository]bool{}}
	for _, name := range r.config.Order() {
		if !r.covers(promotion.Target{Environment: name}) {
			continue
		}
		environment, _ := r.config.Environment(name)
		branch := cmp.Or(environment.Branch, r.defaultBranch)
		heads, err := r.workspace.Reconciler.Clients.Remote.Fetch(ctx, branch)
		if err != nil {
			return nil, err
		}
		if heads[branch] == "" {
			continue
		}
		tree, err := r.workspace.Reconciler.Clients.Files.At(ctx, r.config, heads[branch], []string{name})
		if err != nil {
			return nil, err
		}
		for target, current := range tree.Targets() {
			if r.covers(target) {
				known.add(r.config, target, current.References)
			}
		}
	}
	return known, nil
}

// add adds the references of a target.
func (u *usage) add(c *config.Config, target promotion.Target, references []edit.Reference) {
	for _, reference := range references {
		u.repositories[reference.Repository] = true
		if match, ok := c.FollowAs(target.Environment, target.Application, reference.Repository, reference.Component); ok {
			u.components[match.Component] = true
		}
	}
}
