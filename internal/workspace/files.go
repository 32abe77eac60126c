package workspace

import (
	"context"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scan"
)

// files finds and rewrites references in the files of commits. It implements
// repo.Files.
type files struct {
	mirror  *mirror
	maxSize int64 // bytes over which a file is not parsed
	cache   *scan.Cache
}

// At implements repo.Files.
func (f files) At(ctx context.Context, c *config.Config, commit string, environments []string) (repo.Tree, error) {
	request := scan.Request{Config: c, Environments: environments, MaxFileSize: f.maxSize}
	scanned, err := f.cache.Commit(ctx, f.mirror, request, commit)
	if err != nil {
		return nil, err
	}
	return tree{scanned}, nil
}

// Reread implements repo.Files.
func (f files) Reread(ctx context.Context, of repo.Tree, target promotion.Target) (promotion.Current, error) {
	scanned, ours := of.(tree)
	if !ours {
		return promotion.Current{}, fault.New(fault.Internal, "%T is not a scanned tree", of)
	}
	return scanned.scanned.Reread(ctx, target)
}

// tree implements repo.Tree.
type tree struct{ scanned *scan.Tree }

// Targets implements repo.Tree.
func (t tree) Targets() map[promotion.Target]promotion.Current { return t.scanned.Targets }

// Others implements repo.Tree.
func (t tree) Others() []edit.Reference { return t.scanned.Others }

// Rewrite implements repo.Tree.
func (t tree) Rewrite(ctx context.Context, target promotion.Target, moves []promotion.Move) (repo.Rewritten, error) {
	all, err := scan.Rewrite(ctx, scan.Edit{Tree: t.scanned, Target: target, Moves: moves})
	if err != nil {
		return repo.Rewritten{}, err
	}
	rewritten := repo.Rewritten{Changes: all[0].Changes, Refusals: all[0].Refusals, Files: map[string][]byte{}}
	for _, file := range all[0].Files {
		rewritten.Files[file.Path] = file.After
	}
	return rewritten, nil
}
