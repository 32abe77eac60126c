package server

import (
	"errors"
	"io"
	"sync/atomic"
)

// maxBuffered limits the bodies that one receiver buffers in memory at once, in bytes:
// a sender of large, incomplete bodies has not presented a credential yet.
const maxBuffered = 32 << 20

// bodyBudget counts the buffered bytes of a receiver.
type bodyBudget struct{ buffered atomic.Int64 }

var errBudgetExceeded = errors.New("this receiver buffers too many incomplete bodies")

// budgetReader reads a body as long as the budget allows.
type budgetReader struct {
	io.Reader
	budget *bodyBudget
	size   int64
}

// Read implements io.Reader.
func (r *budgetReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.size += int64(n)
	if r.budget.buffered.Add(int64(n)) > maxBuffered {
		return 0, errBudgetExceeded
	}
	return n, err
}

// release returns the bytes to the budget when the body is not used any more.
func (r *budgetReader) release() { r.budget.buffered.Add(-r.size) }
