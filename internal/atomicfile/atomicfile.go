// Package atomicfile replaces files in one step: who reads one finds all of the old
// content or all of the new one, also while it is replaced and after the process was
// killed.
//
// It is for what can be found out again, and whose readers take a broken file for none:
//   - the cache of internal/registry, which several processes may write at once. The
//     last one wins;
//   - what rounds of internal/app remember of repositories. The same holds for it;
//   - the state of a mirror in internal/git. A lock lets one process write it, which
//     also sweeps.
//
// So it does not wait for the disk: after a power cut a file may be empty. What must
// outlive that, or must not replace anything, has ways of its own in internal/app: the
// credentials of an App (app_kept.go) and the files of a checkout (apply.go).
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Replace gives a file new content. Only its owner may read the file, from the first
// byte on and whatever the mode of the one before was; a symbolic link is replaced, and
// what it points to stays as it is. The folder is made if it is not there, with the same
// right.
//
// A call that fails leaves everything as it was. A process that is killed may leave a
// file NAME.DIGITS beside it, which nobody reads.
func Replace(name string, content []byte) error {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, filepath.Base(name)+".*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Sweep removes what killed processes left beside a file. Only who alone replaces it may
// ask for that: a call under way would lose its file.
func Sweep(name string) error {
	folder, base := filepath.Split(name)
	all, err := os.ReadDir(filepath.Clean(folder))
	var failed []error
	for _, one := range all {
		digits, beside := strings.CutPrefix(one.Name(), base+".")
		if beside && digits != "" && strings.Trim(digits, "0123456789") == "" {
			failed = append(failed, os.Remove(filepath.Join(folder, one.Name())))
		}
	}
	return errors.Join(append(failed, err)...)
}
