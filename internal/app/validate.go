package app

import (
	"fmt"
	"path/filepath"

	"promoter/internal/config"
	"promoter/internal/fault"
)

// ConfigError is a config file that cannot be used.
type ConfigError struct{ Problems config.Problems }

// Error returns one line per problem.
func (e *ConfigError) Error() string { return e.Problems.String() }

// Unwrap gives the error its kind.
func (e *ConfigError) Unwrap() error { return fault.Wrap(fault.Invalid, e.Problems.Err()) }

// Validate checks the config file of the folder and, where one is named, the
// server's file. Problems are no error: they are the answer.
func Validate(dir, server string, env func(string) (string, bool)) (config.Problems, error) {
	data, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	_, problems := config.Load(filepath.Join(dir, ConfigFile), data)
	if server == "" {
		return problems, nil
	}
	data, err = readFile(server, config.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read the server's file: %w", err)
	}
	_, more := config.LoadServer(server, data, env)
	return append(problems, more...), nil
}
