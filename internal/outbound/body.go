package outbound

import (
	"context"
	"errors"
	"io"
	"sync"

	"promoter/internal/fault"
)

// body gives the place at the host back when the answer was read, closed, or
// its time is over; libraries forget to close a body now and then.
type body struct {
	io.ReadCloser
	host string
	done func()
}

func newBody(ctx context.Context, host string, from io.ReadCloser, done func()) *body {
	done = sync.OnceFunc(done)
	stop := context.AfterFunc(ctx, done)
	return &body{ReadCloser: from, host: host, done: func() { stop(); done() }}
}

// Read reads, and ends the body's use with its end.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		return n, nil
	}
	b.done()
	if errors.Is(err, io.EOF) {
		return n, err
	}
	return n, fault.Wrap(kindOfFailure(err), inWords(b.host, err))
}

// Close closes the body and ends its use.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}

// ReadAll reads at most limit bytes. A longer answer is an Invalid fault, never
// a part of it.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fault.New(fault.Invalid, "the answer is larger than %d bytes", limit)
	}
	return data, nil
}
