package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"promoter/internal/fault"
)

// Applied is what apply wrote.
type Applied struct {
	Files []string // sorted by place, then by path
}

// Apply writes the files of the places that are proposed. Each file is replaced
// in one step, and only if it still holds the bytes that were read. An
// interruption before the first write leaves everything as it was; after it, the
// rest is written, so that no application is left half done.
func (c *Checkout) Apply(ctx context.Context, preview *Preview) (Applied, error) {
	var applied Applied
	if err := ctx.Err(); err != nil {
		return applied, err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return applied, fmt.Errorf("open the folder: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through the handle itself
	for _, place := range preview.Places {
		if !place.Changed() || !place.OnDisk {
			continue
		}
		written, err := writeAll(root, place.Files)
		applied.Files = append(applied.Files, written...)
		if err != nil {
			return applied, fmt.Errorf("write %s in %s: %w", place.Application, place.Environment, err)
		}
	}
	return applied, nil
}

// writeAll first looks that no file of an application has changed since it was
// read, then writes them.
func writeAll(root *os.Root, edits []FileEdit) ([]string, error) {
	for _, e := range edits {
		now, err := root.ReadFile(filepath.FromSlash(e.Path))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(now, e.Before) {
			return nil, fault.New(fault.Conflict, "%s was changed by somebody else in the meantime: run it again", e.Path)
		}
	}
	var written []string
	for _, e := range edits {
		if err := replace(root, filepath.FromSlash(e.Path), e.After); err != nil {
			return written, err
		}
		written = append(written, e.Path)
	}
	return written, nil
}

// replace writes a file beside the old one and renames it over that, keeping the
// mode, so that a reader sees the old bytes or the new ones.
func replace(root *os.Root, name string, content []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fault.New(fault.Conflict, "%s is no longer a regular file: run it again", name)
	}
	temporary, err := writeBeside(root, name, content, info.Mode().Perm())
	if err != nil {
		return err
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}

// maxNames is how many names for a temporary file are tried.
const maxNames = 100

func writeBeside(root *os.Root, name string, content []byte, mode fs.FileMode) (string, error) {
	for i := range maxNames {
		temporary := filepath.Join(filepath.Dir(name), fmt.Sprintf(".promoter-%d.tmp", i))
		file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := fill(file, content, mode); err != nil {
			return "", errors.Join(err, root.Remove(temporary))
		}
		return temporary, nil
	}
	return "", fault.New(fault.Conflict, "no free name for a temporary file beside %s", name)
}

// fill writes and closes the file. The mode is set again because the umask took
// its part when the file was made.
func fill(file *os.File, content []byte, mode fs.FileMode) error {
	_, err := file.Write(content)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
