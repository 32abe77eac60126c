package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"promoter/internal/fault"
)

// incomingPack is how a pack is called while it arrives.
const incomingPack = "incoming-"

// keep takes a pack off the wire, checks its limits, and puts it beside the
// others.
func (m *Mirror) keep(ctx context.Context, pack io.Reader) (err error) {
	file, err := os.CreateTemp(m.dir, incomingPack)
	if err != nil {
		return fmt.Errorf("keep a pack: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	size, err := io.Copy(file, &limited{Reader: pack, left: m.options.PackLimit, what: "the pack"})
	if err != nil {
		return said(err)
	}
	if size == 0 {
		return fault.Wrap(fault.Temporary, errNoAnswer)
	}
	read := &stoppable{ReadSeeker: file, ended: ctx.Err}
	count, err := inspect(read, m.options.ObjectLimit)
	if err != nil || count == 0 {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("keep a pack: %w", err)
	}
	if err := m.disk.keepPack(read); err != nil {
		return fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return nil
}

// stoppable is a reader that fails when nobody waits for what is read any more.
type stoppable struct {
	io.ReadSeeker
	ended func() error
}

// Read reads unless the wait is over.
func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ended(); err != nil {
		return 0, err
	}
	return s.ReadSeeker.Read(p) //nolint:wrapcheck // io.EOF must stay itself
}
