package updater_test

import (
	"strings"
	"testing"

	"promoter/internal/image"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/site"
)

// goldenComponent is a component of a case.yaml: one of Image, Chart, Artifact.
type goldenComponent struct {
	Image, Chart, Artifact string
	Pin                    image.Pin
	Source                 string
	Mirror                 string // that the files name
}

// goldenVersion is a wanted version of a case.yaml.
type goldenVersion struct {
	Tag, Digest, Version, Revision, Source string
}

// goldenWrite is a write entry of a case.yaml, as in .promoter.yaml.
type goldenWrite struct {
	File, Path, Regex, Component, Value string
	Create                              bool
}

// version returns the wanted version of a component.
func (c goldenCase) version(component string) (image.Version, bool) {
	v, found := c.Versions[component]
	return image.Version{Tag: v.Tag, Digest: v.Digest, Version: v.Version, Revision: v.Revision, Source: v.Source}, found
}

// writes returns the write entries of a file.
func (c goldenCase) writes(file string) []shapes.Write {
	var writes []shapes.Write
	for _, w := range c.Write {
		if w.File == file {
			writes = append(writes, shapes.Write{Path: w.Path, Regex: w.Regex, Component: w.Component, Value: w.Value, Create: w.Create})
		}
	}
	return writes
}

// followedComponents follows repositories by name, without applications, as the
// configuration does in production.
type followedComponents struct {
	byName       map[string]site.Followed
	byRepository map[image.Repository]site.Followed
}

func (f followedComponents) Follow(_ string, r image.Repository) (site.Followed, bool) {
	followed, found := f.byRepository[r]
	return followed, found
}

func (f followedComponents) Named(_, component string) (site.Followed, bool) {
	followed, found := f.byName[component]
	return followed, found
}

func (f followedComponents) Literals() []string {
	var literals []string
	for r := range f.byRepository {
		literals = append(literals, r.Name())
	}
	return literals
}

func (f followedComponents) add(followed site.Followed) {
	f.byName[followed.Component] = followed
	f.byRepository[followed.Repository] = followed
	if !followed.Mirror.IsZero() {
		f.byRepository[followed.Mirror] = followed
	}
}

func newFollowedComponents() followedComponents {
	return followedComponents{byName: map[string]site.Followed{}, byRepository: map[image.Repository]site.Followed{}}
}

func newGoldenFollower(t *testing.T, components map[string]goldenComponent) followedComponents {
	t.Helper()
	follower := newFollowedComponents()
	for name, component := range components {
		followed := site.Followed{Component: name, Artifact: image.ArtifactImage, Pin: component.Pin, Source: component.Source}
		if component.Chart != "" {
			followed.Artifact = image.ArtifactChart
		} else if component.Artifact != "" {
			followed.Artifact = image.ArtifactOther
		}
		if followed.Pin == "" {
			followed.Pin = image.PinKeep
		}
		repository, err := image.ParseRepository(strings.TrimPrefix(component.Image+component.Chart+component.Artifact, "oci://"))
		if err != nil {
			t.Fatal(err)
		}
		followed.Repository = repository
		if component.Mirror != "" {
			if followed.Mirror, err = image.ParseRepository(component.Mirror); err != nil {
				t.Fatal(err)
			}
		}
		follower.add(followed)
	}
	return follower
}
