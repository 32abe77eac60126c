package app

import (
	"errors"
	"io"
	"os"

	"promoter/internal/config"
)

// ConfigFile is the name of the config file in a GitOps repository.
const ConfigFile = config.FileName

// readFile reads a file: at most limit bytes and one more, so that the caller can
// tell that it is too large.
func readFile(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}
