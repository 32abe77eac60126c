package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/image"
)

func imagesOf(snapshot promotion.Snapshot) map[string]string {
	images := make(map[string]string, len(snapshot))
	for component, pinned := range snapshot {
		images[component] = pinned.String()
	}
	return images
}

// rejected reads the images of a rejection, by component.
func (d *deciding) rejected(ctx context.Context) (map[string]string, error) {
	if len(d.Images) == 0 {
		return nil, nil
	}
	images := map[string]string{}
	for _, text := range d.Images {
		component, pinned, err := d.image(ctx, text)
		if err != nil {
			return nil, err
		}
		if other, twice := images[component]; twice && other != pinned.String() {
			return nil, fault.New(fault.Invalid, "%s: two versions of %s at once: reject one after the other", text, component)
		}
		images[component] = pinned.String()
	}
	return images, nil
}

// image reads COMPONENT:TAG or REPOSITORY:TAG, with a digest or without, and asks
// the registry which digest a tag is. A tag that is gone is rejected by its name.
func (d *deciding) image(ctx context.Context, text string) (string, promotion.Pinned, error) {
	component, reference, err := d.reference(text)
	if err != nil {
		return "", promotion.Pinned{}, err
	}
	pinned := promotion.Pinned{
		Repository: reference.Repository,
		Version:    image.Version{Tag: reference.Tag, Digest: reference.Digest},
	}
	if reference.Digest != "" {
		return component, pinned, nil
	}
	fact := promotion.Fact{Repository: reference.Repository, Tag: reference.Tag}
	version, err := d.reconciler.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: component})
	if err != nil {
		return "", promotion.Pinned{}, err
	}
	pinned.Version.Digest = version.Digest
	return component, pinned, nil
}

// reference finds what a text means: a component by its name, or a repository.
func (d *deciding) reference(text string) (string, image.Reference, error) {
	name, _, _ := strings.Cut(text, "@")
	name, _, _ = strings.Cut(name, ":")
	whole := text
	if component, known := d.config.Component(name); known {
		repository, exact := component.Pattern.Repository()
		if !exact {
			return "", image.Reference{}, fault.New(fault.Invalid, "%q: %s stands for many repositories: write the whole REPOSITORY:TAG", text, name)
		}
		whole = repository.String() + strings.TrimPrefix(text, name)
	}
	reference, err := image.Parse(whole)
	if err != nil {
		return "", image.Reference{}, fault.New(fault.Invalid, "%q: %w; the components are %s", text, err, fault.List(d.components()))
	}
	if reference.Tag == "" && reference.Digest == "" {
		return "", image.Reference{}, fault.New(fault.Invalid, "%q names no version: add :TAG, @DIGEST or both", text)
	}
	component, followed := d.follows(reference.Repository)
	if !followed {
		return "", image.Reference{}, fault.New(fault.Invalid, "%q: nothing follows %s; the components are %s", text, reference.Repository.Familiar(), fault.List(d.components()))
	}
	return component, reference, nil
}

// follows returns the component that follows a repository in some environment.
func (d *deciding) follows(repository image.Repository) (string, bool) {
	for _, environment := range d.config.Order() {
		match, ok := d.config.Follow(environment, cmp.Or(d.Application, config.DefaultApplication), repository)
		if ok {
			return match.Name, true
		}
	}
	return "", false
}

func (d *deciding) components() []string {
	names := make(map[string]bool, len(d.config.Components))
	for _, component := range d.config.Components {
		names[component.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
