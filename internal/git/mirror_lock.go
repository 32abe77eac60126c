package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"promoter/internal/fault"
)

// lockFile is locked as long as a mirror is open. The lock belongs to the open
// file, so it goes with the process whatever becomes of that.
const lockFile = "lock"

// lockPause is how long a process waits before it tries a lock again.
const lockPause = 50 * time.Millisecond

// lockFolder locks a folder against every other user, in this process and in
// others. It waits until the context ends.
func lockFolder(ctx context.Context, dir string) (io.Closer, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of a mirror: %w", err)
	}
	ticker := time.NewTicker(lockPause)
	defer ticker.Stop()
	for {
		locked, err := tryLock(file)
		if locked {
			return file, nil
		}
		if err != nil {
			_ = file.Close() // nothing was written
			return nil, fmt.Errorf("lock a mirror: %w", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			_ = file.Close() // nothing was written
			return nil, fault.New(fault.Temporary, "the mirror in %s is in use: %w", dir, context.Cause(ctx))
		}
	}
}
