//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package git

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock if it is free.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err //nolint:wrapcheck // the caller names the file
}
