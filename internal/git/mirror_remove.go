package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Remove removes the mirror in dir for ever, and nothing where there is none. It waits
// for another process that uses it, as Open does.
func Remove(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockFolder(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // nothing was written
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove a mirror: %w", err)
	}
	return nil
}
