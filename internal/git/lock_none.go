//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package git

import "os"

// locks reports whether tryLock can fail.
const locks = false

// tryLock does nothing: this system has no lock that ends with its process, so each
// process needs its own directory.
func tryLock(*os.File) (bool, error) { return true, nil }
