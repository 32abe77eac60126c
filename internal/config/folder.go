package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/image"
)

// FolderEnvironment is the name of the only environment of a folder without a config
// file.
const FolderEnvironment = "folder"

// Folder returns the config for a folder without a config file: a single environment
// with the whole tree, and a component for each repository. It has no selection, so no
// registry can be queried with it.
func Folder(repositories []image.Repository) (*Config, error) {
	c := &Config{
		policies: map[string]*image.Policy{},
		settings: []setting.RawOverride{{}},
		order:    []string{FolderEnvironment},
		Environments: []Environment{{
			Name: FolderEnvironment, match: newMatcher(nil, nil),
			Settings: setting.Settings{
				Propose: setting.ProposeAutomatic, Land: setting.LandPR, Newer: setting.NewerRefresh,
			},
		}},
	}
	c.ancestors = ancestorsOf(c)
	// A repository is named by its last segment, or by its full name when two have the
	// same last segment.
	times := map[string]int{}
	for _, r := range repositories {
		times[r.Name()]++
	}
	for _, r := range repositories {
		name := r.Name()
		if times[name] > 1 {
			name = r.Familiar()
		}
		pattern, err := image.ParsePattern(r.String())
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", r, err)
		}
		c.Components = append(c.Components, Component{
			Name: field.NameOf(name, r.String()), Artifact: image.ArtifactImage, Pattern: pattern, Pin: image.PinKeep,
		})
	}
	c.index = indexComponents(c.Components)
	return c, nil
}

// Paths are patterns of files, in the grammar of environments.<e>.paths without
// {application}.
type Paths struct{ paths []*glob.Path }

// ParsePaths compiles patterns.
func ParsePaths(texts []string) (*Paths, error) {
	out := &Paths{}
	for _, text := range texts {
		path, err := glob.ParsePath(strings.TrimPrefix(text, "./"))
		if invalid := (*glob.Error)(nil); errors.As(err, &invalid) {
			return nil, fault.New(fault.Invalid, "the path %q: %w (%s)", text, err, invalid.Hint)
		}
		if path.Captures() {
			return nil, fault.New(fault.Invalid, "the path %q: {application} cannot be captured here: write * for it", text)
		}
		out.paths = append(out.paths, path)
	}
	return out, nil
}

// Match reports whether any of the patterns matches the file.
func (p *Paths) Match(file string) bool {
	return slices.ContainsFunc(p.paths, func(path *glob.Path) bool {
		_, ok := path.Match(file)
		return ok
	})
}
