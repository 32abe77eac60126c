package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"promoter/internal/fault"
	"promoter/internal/scan"
	"promoter/internal/suggest"
)

// Suggest makes a config for the files of a folder.
func Suggest(ctx context.Context, dir string) (*suggest.Suggestion, error) {
	if err := isFolder(dir); err != nil {
		return nil, err
	}
	var found suggest.Found
	here := branch{onDisk: true}
	var err error
	if found.References, found.Files, err = scan.All(ctx, here.files(ctx, dir), 0); err != nil {
		return nil, err
	}
	suggestion, err := suggest.Config(found)
	if err != nil {
		return nil, fmt.Errorf("look through %s: %w", dir, err)
	}
	return suggestion, nil
}

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
