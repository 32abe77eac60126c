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
	"promoter/internal/scan"
)

// Applied is what apply wrote.
type Applied struct {
	Files []string // sorted by place, then by path
}

// Apply writes the files of the places that are proposed. Each file is replaced
// in one step, and only if it still holds the bytes that were read. An
// interruption before the first write leaves everything as it was; after it, the
// rest is written, so that no application is left half done. A place that cannot
// be written is left as it was, and the others are written.
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
	var failed []error
	for _, target := range preview.Places {
		if !target.Changed() || !target.OnDisk {
			continue
		}
		written, err := writeAll(root, target.Files)
		applied.Files = append(applied.Files, written...)
		if err != nil {
			failed = append(failed, fmt.Errorf("write %s in %s: %w", target.Application, target.Environment, err))
		}
	}
	return applied, errors.Join(failed...)
}

// staged is a file of which the new content lies beside the old one.
type staged struct{ name, temporary string }

// writeAll writes the files of one application: first all of them beside the old
// ones, so that a full disk or a folder without the right to write leaves the
// application as it was; then each takes its place.
func writeAll(root *os.Root, edits []scan.FileChange) (written []string, err error) {
	var files []staged
	defer func() {
		for _, f := range files[len(written):] {
			err = errors.Join(err, root.Remove(f.temporary))
		}
	}()
	for _, e := range edits {
		f, err := stage(root, e)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for _, e := range edits {
		if _, err := unchanged(root, e); err != nil {
			return nil, err
		}
	}
	for i, e := range edits {
		if err := root.Rename(files[i].temporary, files[i].name); err != nil {
			return written, err
		}
		written = append(written, e.Path)
	}
	return written, nil
}

// stage writes the new content beside the file, with its mode.
func stage(root *os.Root, e scan.FileChange) (staged, error) {
	mode, err := unchanged(root, e)
	if err != nil {
		return staged{}, err
	}
	name := filepath.FromSlash(e.Path)
	temporary, err := writeBeside(root, name, e.After, mode)
	return staged{name, temporary}, err
}

// unchanged says that a file still is what was read, and returns its mode.
func unchanged(root *os.Root, e scan.FileChange) (fs.FileMode, error) {
	name := filepath.FromSlash(e.Path)
	info, err := root.Lstat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fault.New(fault.Conflict, "%s is no longer a regular file: run it again", e.Path)
	}
	same := info.Size() == int64(len(e.Before))
	if same {
		now, err := root.ReadFile(name)
		if err != nil {
			return 0, err
		}
		same = bytes.Equal(now, e.Before)
	}
	if !same {
		return 0, fault.New(fault.Conflict, "%s was changed by somebody else in the meantime: run it again", e.Path)
	}
	return info.Mode().Perm(), nil
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
