package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/promotion"
)

// ConfigFile is the name of the config file in a GitOps repository.
const ConfigFile = engine.ConfigFile

// Checkout is a folder on disk with its config: where plan and apply work.
type Checkout struct {
	dir    string
	config *config.Config
	given  promotion.ExplicitVersions // the versions that stand in for a config; nil: there is one
	clone  *git.Checkout              // nil: the folder lies in no Git repository, or no environment has a branch
}

// OpenCheckout opens the folder at dir. Without a config file the folder is one
// environment that follows the given versions.
func OpenCheckout(dir string, given promotion.ExplicitVersions) (*Checkout, error) {
	if err := isFolder(dir); err != nil {
		return nil, err
	}
	loaded, err := loadConfig(dir)
	switch missing := fault.KindOf(err) == fault.NotFound; {
	case missing && len(given) > 0:
		loaded, err = config.Folder(given.Repositories())
	case missing:
		err = fmt.Errorf("%w, or name versions with --with", err)
	default:
		given = nil
	}
	if err != nil {
		return nil, err
	}
	clone, err := openClone(dir, loaded)
	if err != nil {
		return nil, err
	}
	return &Checkout{dir: dir, config: loaded, given: given, clone: clone}, nil
}

// openClone opens the clone around the folder where an environment lies on a
// branch of its own. Otherwise nothing is asked of Git, whatever state it is in.
func openClone(dir string, loaded *config.Config) (*git.Checkout, error) {
	branched := slices.ContainsFunc(loaded.Environments, func(e config.Environment) bool { return e.Branch != "" })
	if !branched {
		return nil, nil
	}
	clone, err := git.OpenCheckout(dir)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the clone: %w", err)
	}
	return clone, nil
}

func isFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fault.Wrap(fault.NotFound, fmt.Errorf("open the folder: %w", err))
	}
	if !info.IsDir() {
		return fault.New(fault.Invalid, "%s is a file, not a folder", dir)
	}
	return nil
}

// loadConfig reads the config file of the folder. One that is not there is a
// NotFound fault, one with errors a config.Error.
func loadConfig(dir string) (*config.Config, error) {
	data, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	loaded, problems := config.Load(filepath.Join(dir, ConfigFile), data)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &config.Error{Problems: errs}
	}
	return loaded, nil
}

// readConfig reads the config file. It may be a symbolic link that stays in the
// folder; what lies outside is not read, because the words of an error tell what
// stands in a file.
func readConfig(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noConfig(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	data, err := readRegular(root, ConfigFile, config.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		err = noConfig(dir)
	}
	return data, errors.Join(err, root.Close())
}

func noConfig(dir string) error {
	return fault.New(fault.NotFound, "there is no %s in %s: write one with 'promoter init'", ConfigFile, dir)
}

// readRegular reads a regular file of the folder, and one byte more than the
// limit of a larger one. Opening a pipe could wait forever.
func readRegular(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, fmt.Errorf("read %s: %w", name, err))
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "%s is no regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return readAll(file, limit)
}

// environments returns the environments that were asked for, parents first; all
// of them when none was named.
func (c *Checkout) environments(asked []string) ([]string, error) {
	if len(asked) == 0 {
		return c.config.Order(), nil
	}
	wanted := map[string]bool{}
	for _, name := range asked {
		if _, ok := c.config.Environment(name); !ok {
			return nil, fault.New(fault.Invalid, "--env %s: the config has no such environment; it has %v", name, c.config.Order())
		}
		wanted[name] = true
	}
	var ordered []string
	for _, name := range c.config.Order() {
		if wanted[name] {
			ordered = append(ordered, name)
		}
	}
	return ordered, nil
}
