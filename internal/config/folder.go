package config

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// FolderEnvironment is the name of the one environment of a folder without a
// config file.
const FolderEnvironment = "folder"

// Folder returns the config that stands for a folder without one: a single
// environment, the whole tree, and a component for each repository. Nothing is
// selected, so no registry can be asked with it.
func Folder(repositories []image.Repository) (*Config, error) {
	c := &Config{
		policies: map[string]*image.Policy{},
		exact:    map[image.Repository][]int{},
		byName:   map[string]int{},
		raws:     []rawOverride{{}},
		order:    []string{FolderEnvironment},
		Environments: []Environment{{
			Name: FolderEnvironment, Propose: ProposeAutomatic, Land: LandPR, Newer: NewerRefresh,
			match: newMatcher(nil, nil),
		}},
	}
	names := folderNames(repositories)
	for i, repository := range repositories {
		pattern, err := image.ParsePattern(repository.String())
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", repository, err)
		}
		c.exact[repository] = []int{i}
		c.byName[names[i]] = i
		c.Components = append(c.Components, Component{
			Name: names[i], Artifact: image.ArtifactImage, Pattern: pattern, Pin: image.PinKeep,
		})
	}
	return c, nil
}

// folderNames names each repository by its last segment, and by its whole name
// where two would be called alike.
func folderNames(repositories []image.Repository) []string {
	times := map[string]int{}
	for _, r := range repositories {
		times[r.Name()]++
	}
	names := make([]string, 0, len(repositories))
	for _, r := range repositories {
		name := r.Name()
		if times[name] > 1 {
			name = r.Familiar()
		}
		names = append(names, nameOf(name, r.String()))
	}
	return names
}

// Paths are globs of files, in the grammar of environments.<e>.paths without
// {application}.
type Paths struct{ globs []pathGlob }

// ParsePaths reads globs.
func ParsePaths(texts []string) (*Paths, error) {
	paths := &Paths{}
	for _, text := range texts {
		glob, err := compileGlob(strings.TrimPrefix(text, "./"))
		if err != nil {
			return nil, fault.New(fault.Invalid, "the path %q: %w (%s)", text, err, globHints[err])
		}
		if glob.captures {
			return nil, fault.New(fault.Invalid, "the path %q: nothing is captured here: write * for {application}", text)
		}
		paths.globs = append(paths.globs, glob)
	}
	return paths, nil
}

// Match says whether any of the globs matches the file.
func (p *Paths) Match(file string) bool {
	return slices.ContainsFunc(p.globs, func(g pathGlob) bool {
		_, ok := g.match(file)
		return ok
	})
}
