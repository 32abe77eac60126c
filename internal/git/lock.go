package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"promoter/internal/fault"
)

const (
	// lockFile is locked while a mirror is open. The lock belongs to the open file,
	// so the system releases it with the process.
	lockFile = "lock"

	// lockRetry is the time between two attempts to lock.
	lockRetry = 50 * time.Millisecond
)

func openLock(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of a mirror: %w", err)
	}
	return file, nil
}

// lockDirectory locks a directory against all other users, in this process and in
// others. It waits until the context ends.
func lockDirectory(ctx context.Context, dir string) (*os.File, error) {
	file, err := openLock(dir)
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(lockRetry)
	defer ticker.Stop()
	for {
		locked, err := tryLock(file)
		if locked {
			return file, nil
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock a mirror: %w", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			_ = file.Close()
			return nil, fault.New(fault.Temporary, "the mirror in %s is in use: %w", dir, context.Cause(ctx))
		}
	}
}
