//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package git

import (
	"errors"
	"os"
	"syscall"
)

// locks reports whether tryLock can fail.
const locks = true

// tryLock locks the file if no other process has locked it.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
