package app

import (
	"iter"

	"promoter/internal/config"
	"promoter/internal/updater"
)

// narrowing keeps the files that a person named; without names it keeps all.
type narrowing struct{ paths *config.Paths }

func newNarrowing(globs []string) (narrowing, error) {
	if len(globs) == 0 {
		return narrowing{}, nil
	}
	paths, err := config.ParsePaths(globs)
	return narrowing{paths}, err
}

// keeps says whether a file is looked at.
func (n narrowing) keeps(file string) bool { return n.paths == nil || n.paths.Match(file) }

func (n narrowing) files(files iter.Seq2[updater.File, error]) iter.Seq2[updater.File, error] {
	if n.paths == nil {
		return files
	}
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			if err == nil && !n.keeps(file.Path) {
				continue
			}
			if !yield(file, err) {
				return
			}
		}
	}
}
