package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"promoter/internal/config"
)

// HasConfig says whether there is a config file in the folder, readable or not.
func HasConfig(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ConfigFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// Validate checks the config file of the folder. Problems are no error: they are
// the answer.
func Validate(dir string) (config.Problems, error) {
	data, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	_, problems := config.Load(filepath.Join(dir, ConfigFile), data)
	return problems, nil
}

// ValidateServer checks a server's file, as Validate does the config file.
func ValidateServer(file string, env func(string) (string, bool)) (config.Problems, error) {
	data, err := readFile(file, config.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read the server's file: %w", err)
	}
	_, problems := config.LoadServer(file, data, env)
	return problems, nil
}
