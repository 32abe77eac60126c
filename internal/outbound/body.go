package outbound

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"promoter/internal/fault"
)

// body releases the slot at the host when it was read to its end, closed, or timed out:
// libraries sometimes forget to close a body. It ends the request when the server sends
// nothing for some time.
type body struct {
	from  io.ReadCloser
	host  string
	stall time.Duration
	timer *time.Timer // of a Read, see stall
	end   func()      // of the request
	done  func()
}

func newBody(ctx context.Context, host string, from io.ReadCloser, stall time.Duration, end, done func()) *body {
	done = sync.OnceFunc(done)
	stop := context.AfterFunc(ctx, done)
	return &body{from: from, host: host, stall: stall, end: end, done: func() { stop(); done() }}
}

// Read implements io.Reader. An error, also the end, releases the slot.
func (b *body) Read(p []byte) (int, error) {
	if b.timer == nil {
		b.timer = time.AfterFunc(b.stall, b.end)
	} else {
		b.timer.Reset(b.stall)
	}
	n, err := b.from.Read(p)
	ended := !b.timer.Stop()
	if err == nil {
		return n, nil
	}
	b.done()
	if errors.Is(err, io.EOF) {
		return n, err
	}
	if ended {
		err = os.ErrDeadlineExceeded
	}
	return n, fault.Wrap(kindOfFailure(err), describe(b.host, err))
}

// Close implements io.Closer and releases the slot.
func (b *body) Close() error {
	err := b.from.Close()
	b.done()
	return err
}

// ReadAll reads at most limit bytes. A longer response is an Invalid fault and never
// truncated.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fault.New(fault.Invalid, "the response is larger than %d bytes", limit)
	}
	return data, nil
}
