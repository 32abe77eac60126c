package checkout

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
	Files []string // sorted by target, then by path
}

// Apply writes the files of the proposed targets. Each file is replaced in one
// step, and only if it still has the content that was read. A cancellation before
// the first write changes nothing; after it, the rest is written, so that no
// application is left half done. A target that cannot be written stays as it was,
// and the others are written.
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
	for _, target := range preview.Targets {
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

// writeAll writes the files of one application. It writes all of them beside the
// old ones first, so that a full disk or a missing permission leaves the
// application as it was, and then renames them.
func writeAll(root *os.Root, changes []scan.FileChange) (written []string, err error) {
	var temporary []string
	defer func() {
		for _, name := range temporary[len(written):] {
			err = errors.Join(err, root.Remove(name))
		}
	}()
	for _, change := range changes {
		mode, err := unchanged(root, change)
		if err != nil {
			return nil, err
		}
		name, err := writeBeside(root, filepath.FromSlash(change.Path), change.After, mode)
		if err != nil {
			return nil, err
		}
		temporary = append(temporary, name)
	}
	for _, change := range changes {
		if _, err := unchanged(root, change); err != nil {
			return nil, err
		}
	}
	for i, change := range changes {
		if err := root.Rename(temporary[i], filepath.FromSlash(change.Path)); err != nil {
			return written, err
		}
		written = append(written, change.Path)
	}
	return written, nil
}

// unchanged returns the mode of a file if it still has the content that was read.
func unchanged(root *os.Root, change scan.FileChange) (fs.FileMode, error) {
	name := filepath.FromSlash(change.Path)
	info, err := root.Lstat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fault.New(fault.Conflict, "%s is no longer a regular file: run it again", change.Path)
	}
	same := info.Size() == int64(len(change.Before))
	if same {
		now, err := root.ReadFile(name)
		if err != nil {
			return 0, err
		}
		same = bytes.Equal(now, change.Before)
	}
	if !same {
		return 0, fault.New(fault.Conflict, "%s was changed by another process: run it again", change.Path)
	}
	return info.Mode().Perm(), nil
}

// maxNames is how many names for a temporary file are tried.
const maxNames = 100

// writeBeside writes a temporary file into the folder of the named one and returns
// its name.
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
		err = errors.Join(fill(file, content, mode), file.Close())
		if err != nil {
			return "", errors.Join(err, root.Remove(temporary))
		}
		return temporary, nil
	}
	return "", fault.New(fault.Conflict, "no free name for a temporary file beside %s", name)
}

func fill(file *os.File, content []byte, mode fs.FileMode) error {
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil { // again, because the umask applies to new files
		return err
	}
	return file.Sync()
}
