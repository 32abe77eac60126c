package repo

import (
	"fmt"

	"promoter/internal/config"
	"promoter/internal/fault"
)

// ConfigFile is the config file of a repository, read from the default branch.
const ConfigFile = ".promoter.yaml"

// UnusableError is why nothing can be done with the config file of a commit, and what to
// do about it. Its kind is Invalid.
type UnusableError struct {
	Text     string
	Broken   bool            // there is a file
	Problems config.Problems // of the file
}

func (e *UnusableError) Error() string { return e.Text }

// LoadConfig loads the config of a commit of the default branch. If it cannot be used,
// the error wraps an UnusableError. One that is known need not be parsed again if the file is the
// same; nil: none is.
func LoadConfig(objects Contents, commit, branch string, known *config.Config) (*config.Config, error) {
	data, err := objects.Read(commit, ConfigFile, config.MaxSize)
	if fault.KindOf(err) == fault.NotFound {
		missing := "there is no " + ConfigFile + " on " + branch + ": write one with 'promoter init'"
		return nil, fault.Wrap(fault.Invalid, &UnusableError{Text: missing})
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ConfigFile, err)
	}
	loaded, problems := known, config.Problems(nil)
	if known == nil || !known.IsFrom(data) {
		loaded, problems = config.Load(ConfigFile, data)
	}
	errs := problems.Errors()
	if len(errs) == 0 {
		loaded, err = loaded.ReadFiles(func(file string, limit int64) ([]byte, error) { return objects.Read(commit, file, limit) })
		if fault.KindOf(err) == fault.Invalid {
			return nil, fault.Wrap(fault.Invalid, &UnusableError{Text: "the config cannot be used: " + err.Error(), Broken: true})
		}
		return loaded, err
	}
	text := "the config cannot be used: " + errs[0].String()
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more: see 'promoter validate')", more)
	}
	return nil, fault.Wrap(fault.Invalid, &UnusableError{Text: text, Broken: true, Problems: problems})
}
