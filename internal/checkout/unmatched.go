package checkout

import (
	"context"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/scan"
	"promoter/internal/unused"
	"promoter/internal/updater"
)

// Known returns what the files of a checkout have of what a config names. In a folder that is not the root of a
// Git repository, only mentions are known, and no files of branches that cannot be read.
func Known(ctx context.Context, dir string, loaded *config.Config) (unused.Repository, error) {
	c, err := openLoaded(dir, loaded, nil)
	if err != nil {
		return unused.Repository{}, err
	}
	branches, err := c.branches(loaded.Order())
	if err != nil {
		return unused.Repository{}, err
	}
	for _, b := range branches {
		if b.unavailable == "" {
			request := scan.Request{Config: loaded, Environments: b.environments}
			if b.tree, err = scan.Files(ctx, request, b.watch(b.files(ctx, dir))); err != nil {
				return unused.Repository{}, err
			}
		}
	}
	found := c.known(ctx, branches)
	found.Mentions = mentionsOf(branches)
	if !isRoot(dir) {
		return unused.Repository{Config: loaded, Mentions: found.Mentions}, nil
	}
	return found, nil
}

// mentionsOf returns the mentions in the branches that were scanned. Applications may share a file.
func mentionsOf(branches []*branch) edit.Mentions {
	var all edit.Mentions
	for _, b := range branches {
		if b.tree == nil {
			continue
		}
		for _, current := range b.tree.Targets {
			mentions := current.Mentions
			mentions.Listed = slices.DeleteFunc(slices.Clone(mentions.Listed), func(m edit.Mention) bool {
				return slices.Contains(all.Listed, m)
			})
			all.Add(mentions)
		}
	}
	return all
}

// isRoot reports whether a folder has all files of a branch.
func isRoot(dir string) bool {
	absolute, err := filepath.Abs(dir)
	return err == nil && RepositoryRoot(dir) == absolute
}

// known returns what the branches have that were scanned.
func (c *Checkout) known(ctx context.Context, branches []*branch) unused.Repository {
	found := unused.Repository{Config: c.config, Branches: []unused.Branch{}, Certain: true}
	for _, b := range branches {
		if b.unavailable != "" {
			found.Certain = false
			continue
		}
		found.Branches = append(found.Branches, unused.Branch{Environments: b.environments, Files: b.paths, Targets: b.tree.Targets})
		for _, current := range b.tree.Targets {
			found.Certain = found.Certain && len(current.Refusals) == 0
		}
	}
	found.Everything = func() (all []edit.Reference) {
		for _, b := range branches {
			if b.unavailable == "" {
				references, _, err := scan.All(ctx, b.files(ctx, c.dir), 0)
				if err != nil { // only a hint is lost
					return nil
				}
				all = append(all, references...)
			}
		}
		return all
	}
	return found
}

// watch yields the files of the branch, and keeps their paths.
func (b *branch) watch(files iter.Seq2[updater.File, error]) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		b.paths = nil
		for file, err := range files {
			if err == nil && file.Path != config.FileName {
				b.paths = append(b.paths, file.Path)
			}
			if !yield(file, err) {
				return
			}
		}
	}
}

// unmatchedGlobs are the globs of --path that matched no file yet.
type unmatchedGlobs map[string]*config.Paths

func newUnmatched(globs []string) (unmatchedGlobs, error) {
	unmatched := unmatchedGlobs{}
	for _, glob := range globs {
		paths, err := config.ParsePaths([]string{glob})
		if err != nil {
			return nil, err
		}
		unmatched[glob] = paths
	}
	return unmatched, nil
}

// watch yields the files, and removes the globs that match.
func (u unmatchedGlobs) watch(files iter.Seq2[updater.File, error]) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			maps.DeleteFunc(u, func(_ string, paths *config.Paths) bool { return err == nil && paths.Match(file.Path) })
			if !yield(file, err) {
				return
			}
		}
	}
}
