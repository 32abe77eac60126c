package checkout

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
	"promoter/internal/suggest/bots"
)

// Suggest returns a config for the files of a folder.
func Suggest(ctx context.Context, dir string) (*suggest.Suggestion, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	var found suggest.Found
	var err error
	var settings bots.Reader
	if found.References, found.Files, err = scan.All(ctx, scan.Watch(folderFiles(ctx, dir), bots.IsSettings, settings.Read), 0); err != nil {
		return nil, err
	}
	found.Bots = settings.Setup()
	suggestion, err := suggest.Config(found)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", dir, err)
	}
	return suggestion, nil
}

// configMode makes the config readable for all, like other committed files.
const configMode fs.FileMode = 0o644

// WriteConfig writes a new config file in one step: a reader sees all of it or
// nothing. A file that exists is a Conflict fault.
func WriteConfig(name, text string) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through the handle itself
	base := filepath.Base(name)
	_, err = root.Lstat(base)
	if err == nil {
		err = fs.ErrExist
	} else {
		var temporary string
		if temporary, err = writeBeside(root, base, []byte(text), configMode); err == nil {
			err = publish(root, temporary, base)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s exists and is not overwritten: remove it first, or write to another file with -o", name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// publish gives a temporary file its name. Unlike a rename, a link never replaces a
// file, but not all file systems have links.
func publish(root *os.Root, temporary, name string) error {
	err := root.Link(temporary, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if err = root.Rename(temporary, name); err == nil {
			return nil
		}
	}
	return errors.Join(err, root.Remove(temporary))
}
