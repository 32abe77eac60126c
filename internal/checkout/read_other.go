//go:build !unix

package checkout

import (
	"errors"
	"io"
	"os"
)

// reader reads files.
type reader struct{}

func newReader() *reader { return &reader{} }

// read returns the content of a file: at most limit bytes and one more, so that the
// caller can detect that it is too large.
func (*reader) read(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}
