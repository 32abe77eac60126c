// Package checkout implements plan, apply, and init for a folder on disk, usually
// a clone of a GitOps repository.
//
// It needs no forge and no database: conditions and gates that need one are
// reported as not evaluated. Environments on other branches are read from the
// objects of the clone. Only Apply and WriteConfig write, and they replace each
// file in one step.
package checkout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/image"
)

// Checkout is a folder with its config.
type Checkout struct {
	dir      string
	config   *config.Config
	explicit image.ExplicitVersions // replace the config; nil: the folder has a config file
	clone    *git.Checkout          // nil: not in a Git repository, or no environment has a branch
}

// Open opens the folder at dir. Without a config file, the folder is one
// environment that follows the repositories of the explicit versions.
func Open(dir string, explicit image.ExplicitVersions) (*Checkout, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	loaded, err := load(dir)
	return openWith(dir, loaded, err, explicit)
}

// OpenRevision opens the folder at dir as Open does, but with the config file of a commit of
// the clone, such as origin/main, and the files that it names there. So the config of a
// change that is not reviewed yet decides nothing.
func OpenRevision(dir, revision string, explicit image.ExplicitVersions) (*Checkout, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	loaded, err := loadRevision(dir, revision)
	return openWith(dir, loaded, err, explicit)
}

// openWith opens the folder with a config, or why there is none.
func openWith(dir string, loaded *config.Config, err error, explicit image.ExplicitVersions) (*Checkout, error) {
	switch missing := fault.KindOf(err) == fault.NotFound; {
	case missing && len(explicit) > 0:
		loaded, err = config.Folder(explicit.Repositories())
	case missing:
		err = fmt.Errorf("%w, or name versions with --with", err)
	default:
		explicit = nil
	}
	if err != nil {
		return nil, err
	}
	return openLoaded(dir, loaded, explicit)
}

func openLoaded(dir string, loaded *config.Config, explicit image.ExplicitVersions) (*Checkout, error) {
	c := &Checkout{dir: dir, config: loaded, explicit: explicit}
	// Without branches, nothing is read from Git, whatever state the clone is in.
	if slices.ContainsFunc(loaded.Environments, func(e config.Environment) bool { return e.Branch != "" }) {
		clone, err := git.OpenCheckout(dir)
		switch {
		case err == nil:
			c.clone = clone
		case fault.KindOf(err) != fault.NotFound:
			return nil, fmt.Errorf("open the clone: %w", err)
		}
	}
	return c, nil
}

func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fault.Wrap(fault.NotFound, fmt.Errorf("open the folder: %w", err))
	}
	if !info.IsDir() {
		return fault.New(fault.Invalid, "%s is a file, not a folder", dir)
	}
	return nil
}

// HasConfig reports whether the folder has a config file, readable or not.
func HasConfig(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, config.FileName))
	return !errors.Is(err, fs.ErrNotExist)
}

// Validate loads and checks the config file of the folder. Problems in it are not an error.
func Validate(dir string) (*config.Config, config.Problems, error) {
	data, err := readConfig(dir)
	if err != nil {
		return nil, nil, err
	}
	loaded, problems := config.Load(filepath.Join(dir, config.FileName), data)
	if loaded != nil {
		if _, err := withFiles(loaded, dir); err != nil {
			problems = append(problems, config.Problem{
				Severity: config.SeverityError,
				Position: config.Position{File: filepath.Join(dir, config.FileName), Line: 1, Column: 1},
				Message:  err.Error(),
				Hint:     "add the file to the repository, or correct its path",
			})
			return nil, problems, nil //nolint:nilerr // it is one of the problems
		}
	}
	return loaded, problems, nil
}

// load loads the config file of the folder. A missing file is a NotFound fault, one
// with problems a config.Error.
func load(dir string) (*config.Config, error) {
	data, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	loaded, err := parse(filepath.Join(dir, config.FileName), data)
	if err != nil {
		return nil, err
	}
	return withFiles(loaded, dir)
}

// loadRevision does the same with the files of a commit. Links are not followed.
func loadRevision(dir, revision string) (*config.Config, error) {
	clone, err := git.OpenCheckout(dir)
	if err != nil {
		return nil, fmt.Errorf("open the clone: %w", fault.Wrap(fault.Invalid, err))
	}
	tree, err := clone.Revision(revision)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err) // explicit versions do not replace it
	}
	read := func(file string, limit int64) ([]byte, error) {
		entry, err := tree.Entry(file)
		if err != nil {
			return nil, err
		}
		if entry.Mode != object.Regular {
			return nil, fault.New(fault.Invalid, "%s of %s is not a regular file", file, revision)
		}
		return entry.Read(limit)
	}
	data, err := read(config.FileName, config.MaxSize)
	if err != nil {
		return nil, err
	}
	loaded, err := parse(revision+":"+config.FileName, data)
	if err != nil {
		return nil, err
	}
	return loaded.ReadFiles(read)
}

// parse returns the config of a text, or its problems as a config.Error.
func parse(name string, data []byte) (*config.Config, error) {
	loaded, problems := config.Load(name, data)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &config.Error{Problems: errs}
	}
	return loaded, nil
}

// withFiles reads the files of the folder that a config names.
func withFiles(loaded *config.Config, dir string) (*config.Config, error) {
	return loaded.ReadFiles(func(file string, limit int64) ([]byte, error) { return readWithin(dir, file, limit) })
}

// readWithin reads a file of the folder, which may be a symbolic link within it. Files outside
// are not read, because error messages quote the content. A missing one is a NotFound fault.
func readWithin(dir, file string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, notFound(fmt.Errorf("open the folder: %w", err))
	}
	data, err := readRegular(root, file, limit)
	return data, errors.Join(notFound(err), root.Close())
}

// notFound makes an error about something that does not exist a NotFound fault.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.NotFound, err)
	}
	return err
}

// readConfig reads the config file.
func readConfig(dir string) ([]byte, error) {
	data, err := readWithin(dir, config.FileName, config.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noConfig(dir)
	}
	return data, err
}

func noConfig(dir string) error {
	if above := configAbove(dir); above != "" {
		return fault.New(fault.NotFound, "there is no %s in %s, but there is one in %s: use --dir %s", config.FileName, dir, above, above)
	}
	return fault.New(fault.NotFound, "there is no %s in %s: write one with 'promoter init'", config.FileName, dir)
}

// configAbove returns the nearest folder above with a config file, up to the root of the
// Git repository; empty: there is none.
func configAbove(dir string) string {
	root := RepositoryRoot(dir)
	absolute, err := filepath.Abs(dir)
	if root == "" || err != nil {
		return ""
	}
	above := dir
	for absolute != root && absolute != filepath.Dir(absolute) {
		absolute, above = filepath.Dir(absolute), filepath.Join(above, "..")
		if HasConfig(absolute) {
			return above
		}
	}
	return ""
}

// RepositoryRoot returns the absolute path of the root of the Git repository that contains
// the folder; empty: there is none.
func RepositoryRoot(dir string) string {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Lstat(filepath.Join(absolute, ".git")); err == nil {
			return absolute
		}
		above := filepath.Dir(absolute)
		if above == absolute {
			return ""
		}
		absolute = above
	}
}

// readRegular reads a regular file: at most limit bytes and one more, so that the
// caller can detect that it is too large. Opening a pipe could block forever.
func readRegular(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, fmt.Errorf("read %s: %w", name, err))
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "%s is not a regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}
