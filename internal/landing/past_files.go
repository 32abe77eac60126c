package landing

import (
	"context"
	"errors"
	"fmt"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// This file reads the files of earlier commits with the config of now.

// PastFiles reads the references of earlier commits. A commit may have changed several
// applications: its files are read once for each environment.
type PastFiles struct {
	files  repo.Files
	config *config.Config
	trees  map[string]repo.Tree // by environment and commit
	tried  *budget.Budget       // see Try

	changes map[string][]string // see changed
	reads   int                 // see mayRead
}

// NewPastFiles reads them with a config of now.
func NewPastFiles(files repo.Files, c *config.Config) *PastFiles {
	return &PastFiles{files: files, config: c, trees: map[string]repo.Tree{}, tried: ownBudget(maxTried), changes: map[string][]string{}}
}

// ownBudget is one besides that of the reconciliation. Every resource has a limit in it.
func ownBudget(parsed int64) *budget.Budget {
	limits := budget.Defaults()
	limits[budget.Parsed] = budget.Limit{Total: parsed}
	return budget.New(limits)
}

// maxPastTrees bounds how many trees are kept. The last ones are needed again.
const maxPastTrees = 4

func (p *PastFiles) tree(ctx context.Context, environment, commit string) (repo.Tree, error) {
	key := environment + " " + commit
	if tree, read := p.trees[key]; read {
		return tree, nil
	}
	tree, err := p.files.At(ctx, p.config, commit, []string{environment})
	if err != nil {
		return nil, fmt.Errorf("read the files of %.7s: %w", commit, err)
	}
	if len(p.trees) >= maxPastTrees {
		clear(p.trees)
	}
	p.trees[key] = tree
	return tree, nil
}

// At returns the files of a target in a commit.
func (p *PastFiles) At(ctx context.Context, target promotion.Target, commit string) (promotion.Current, error) {
	tree, err := p.tree(ctx, target.Environment, commit)
	if err != nil {
		return promotion.Current{}, err
	}
	return tree.Targets()[target], nil
}

// maxTried is how many bytes of files are parsed in one reconciliation that only add to what is known.
const maxTried = 64 << 20

// Try is At for files that only add to what is known. It returns false where they are invalid, or over a limit of their
// own: they neither end the reconciliation nor use what the rest of it needs.
func (p *PastFiles) Try(ctx context.Context, target promotion.Target, commit string) (files promotion.Current, read bool, err error) {
	files, err = p.At(budget.With(ctx, p.tried), target, commit)
	if errors.Is(err, budget.ErrExceeded) || fault.KindOf(err) == fault.Invalid {
		return promotion.Current{}, false, nil
	}
	return files, err == nil, err
}

// changed returns the paths that a commit changed, compared with its first parent. The targets of a branch ask for the
// same commits.
func (p *PastFiles) changed(objects repo.Contents, commit repo.Commit) ([]string, error) {
	if paths, known := p.changes[commit.ID]; known {
		return paths, nil
	}
	paths, err := objects.Changed(commit.Parents[0], commit.ID)
	if err != nil {
		return nil, fmt.Errorf("compare %.7s with its parent: %w", commit.ID, err)
	}
	p.changes[commit.ID] = paths
	return paths, nil
}

// mayRead counts a reading of files that only adds to what is known, and reports whether there are not too many in this
// reconciliation.
func (p *PastFiles) mayRead() bool {
	p.reads++
	return p.reads <= maxWrittenReads
}
