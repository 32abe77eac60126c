package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/suggest"
	"promoter/internal/updater"
)

// Suggest makes a config for the files of a folder.
func Suggest(ctx context.Context, dir string) (*suggest.Suggestion, error) {
	if err := isFolder(dir); err != nil {
		return nil, err
	}
	var found suggest.Found
	here := branch{onDisk: true}
	inventory, err := updater.New(anything{}, updater.Options{}).Scan(ctx, listed(here.files(ctx, dir), &found))
	if err != nil {
		return nil, err
	}
	found.References = inventory.References
	suggestion, err := suggest.Config(found)
	if err != nil {
		return nil, fmt.Errorf("look through %s: %w", dir, err)
	}
	return suggestion, nil
}

// listed lets the files pass and writes their paths down.
func listed(files iter.Seq2[updater.File, error], found *suggest.Found) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			if err == nil && file.Mode == updater.Regular {
				found.Files = append(found.Files, file.Path)
			}
			if !yield(file, err) {
				return
			}
		}
	}
}

// anything follows every repository, each as a component of its own name.
type anything struct{}

// Follow implements updater.Follower.
func (anything) Follow(_ string, repository image.Repository) (updater.Followed, bool) {
	return updater.Followed{Component: repository.String(), Artifact: image.ArtifactImage, Repository: repository}, true
}

// Named implements updater.Follower. No component has a name yet.
func (anything) Named(string, string) (updater.Followed, bool) { return updater.Followed{}, false }

// Literals implements updater.Follower: every file is read.
func (anything) Literals() []string { return nil }

// configMode lets everybody read the config, as all that is committed.
const configMode fs.FileMode = 0o644

// WriteConfig writes a config file that is not there yet, in one step: a reader
// sees all of it or nothing. A file that is there is a Conflict fault.
func WriteConfig(name, text string) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through the handle itself
	base := filepath.Base(name)
	if _, err := root.Lstat(base); err == nil {
		return present(name)
	}
	temporary, err := writeBeside(root, base, []byte(text), configMode)
	if err == nil {
		err = put(root, temporary, base)
	}
	if errors.Is(err, fs.ErrExist) {
		return present(name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// put gives a temporary file its name. A link never replaces a file, as a rename
// would; some file systems have no links.
func put(root *os.Root, temporary, name string) error {
	err := root.Link(temporary, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if err = root.Rename(temporary, name); err == nil {
			return nil
		}
	}
	return errors.Join(err, root.Remove(temporary))
}

func present(name string) error {
	return fault.New(fault.Conflict, "%s is there already and is not overwritten: remove it first, or write to another file with -o", name)
}
