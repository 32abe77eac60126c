// Package atomicfile replaces files in one step: a reader sees the whole old content or the
// whole new one, also during the replacement and after the process was killed.
//
// It is for caches: content that can be recreated, and whose readers treat a broken file as
// missing. It does not sync to disk, so a file may be empty after a power failure. What must
// survive one, such as the credentials of an App, is written elsewhere. Read is for any file.
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes new content to a file. Only the owner can read it, from the first byte on
// and regardless of the previous mode; a symbolic link is replaced, and its target stays
// unchanged. The folder is created if it does not exist, with the same permissions.
//
// A call that fails changes nothing. A process that is killed may leave a file NAME.DIGITS
// next to it, which is never read.
func Replace(name string, content []byte) error {
	return ReplaceWith(name, func(file *os.File) error {
		_, err := file.Write(content)
		return err
	})
}

// ReplaceWith is Replace with content that a function writes.
func ReplaceWith(name string, write func(*os.File) error) error {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, filepath.Base(name)+".*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Read reads a file of at most limit bytes, and one more byte of a larger one, by which the
// caller sees that it is too large.
func Read(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}

// Sweep removes what killed processes left next to a file. Only the sole writer of the file
// may call it: a Replace in progress would lose its file.
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
