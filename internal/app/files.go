package app

import (
	"context"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/scan"
)

// gitFiles finds and rewrites references in the files of commits. It implements
// engine.Files.
type gitFiles struct {
	objects gitObjects
	maxSize int64 // bytes over which a file is not parsed
	cache   *scan.Cache
}

// At implements engine.Files.
func (f gitFiles) At(ctx context.Context, c *config.Config, commit string, environments []string) (engine.Tree, error) {
	request := scan.Request{Config: c, Environments: environments, MaxFileSize: f.maxSize}
	tree, err := f.cache.Commit(ctx, scanned{f.objects}, request, commit)
	if err != nil {
		return nil, err
	}
	return gitTree{tree}, nil
}

// gitTree implements engine.Tree.
type gitTree struct{ tree *scan.Tree }

// Targets implements engine.Tree.
func (t gitTree) Targets() map[promotion.Target]promotion.Current { return t.tree.Targets }

// Rewrite implements engine.Tree.
func (t gitTree) Rewrite(ctx context.Context, target promotion.Target, moves []promotion.Move) (engine.Rewritten, error) {
	all, err := scan.Rewrite(ctx, scan.Edit{Tree: t.tree, Target: target, Moves: moves})
	if err != nil {
		return engine.Rewritten{}, err
	}
	made := all[0]
	out := engine.Rewritten{Changes: made.Changes, Refusals: made.Refusals, Files: map[string][]byte{}}
	for _, file := range made.Files {
		out.Files[file.Path] = file.After
	}
	return out, nil
}

// scanned is the mirror as package scan reads it.
type scanned struct{ objects gitObjects }

// Root implements scan.Repository.
func (s scanned) Root(commit string) (object.ID, error) { return s.objects.root(commit) }

// List implements scan.Repository.
func (s scanned) List(ctx context.Context, commit string) ([]object.Entry, error) {
	return s.objects.entries(ctx, commit)
}

// Changed implements scan.Repository.
func (s scanned) Changed(before, after string) ([]string, error) {
	return s.objects.Changed(before, after)
}

// File implements scan.Repository.
func (s scanned) File(commit, path string) (object.Entry, error) { return s.objects.at(commit)(path) }

// Entry implements scan.Repository.
func (s scanned) Entry(path string, mode object.Mode, id object.ID) object.Entry {
	return s.objects.entry(path, mode, id)
}

// Content implements scan.Repository.
func (s scanned) Content(file object.Entry, limit int64) ([]byte, error) {
	return s.objects.content(file, limit)
}
