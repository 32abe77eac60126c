package app

import (
	"context"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/git"
)

// gitFiles finds references in the files of commits. It is engine.Files.
type gitFiles struct {
	objects gitObjects
	maxSize int64 // bytes over which a file is not parsed
	known   *surveys
}

// At implements engine.Files. The environments of a branch are surveyed together:
// the files of one of them are asked for after those of all.
func (f gitFiles) At(ctx context.Context, c *config.Config, commit string, environments []string) (engine.Tree, error) {
	tree, err := f.known.of(f, c, together(c, environments)).at(ctx, commit)
	if err != nil {
		return nil, err
	}
	return tree.only(environments), nil
}

// together returns the environments that lie on the same branches as the given
// ones, in the order of the config.
func together(c *config.Config, environments []string) []string {
	branches := map[string]bool{}
	for _, name := range environments {
		environment, _ := c.Environment(name)
		branches[environment.Branch] = true
	}
	var all []string
	for _, environment := range c.Environments {
		if branches[environment.Branch] {
			all = append(all, environment.Name)
		}
	}
	return all
}

// applicationsIn lists the applications that have files in an environment, from
// the names of the files alone.
func applicationsIn(environment *config.Environment, entries []git.Entry) []string {
	found := map[string]bool{}
	for _, entry := range entries {
		if application, ok := environment.Match(entry.Path); ok && entry.Path != ConfigFile {
			found[application] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
