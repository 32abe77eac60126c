package server_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// full is a listener that cannot accept at first.
type full struct {
	*pipes
	refused atomic.Bool
}

func (f *full) Accept() (net.Conn, error) {
	if !f.refused.Swap(true) {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return f.pipes.Accept()
}

// An Accept error is logged at the error level, and the server continues.
func TestListen_logsAcceptErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, listener := newWorld(t, nil), &full{pipes: newPipes()}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Listen(ctx, listener, time.Second) }()
		if status := quick(t, listener.pipes); status != http.StatusAccepted {
			t.Errorf("later: %d", status)
		}
		silent := listener.dial()
		say(t, silent, "nonsense\r\n\r\n")
		_ = answerOf(t, silent)
		_ = silent.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		lines := w.log.String()
		if strings.Count(lines, "level=ERROR") != 1 || !strings.Contains(lines, "too many open files") {
			t.Errorf("the log says: %s", lines)
		}
	})
}
