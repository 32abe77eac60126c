package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener within the process, whose deadlines are those of the bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// dial connects to the server.
func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// A client that never ends its headers or body is disconnected, and does not delay
// others. Stopping waits for requests in progress, but not for ever.
func TestListen_closesSlowConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, listener := newWorld(t, nil), newPipes()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Listen(ctx, listener, 5*time.Second) }()

		began := time.Now()
		slow := listener.dial()
		say(t, slow, "POST /webhooks/forge HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
		if status := quick(t, listener); status != http.StatusAccepted || time.Since(began) > 0 {
			t.Errorf("another one: %d after %v", status, time.Since(began))
		}
		response := answerOf(t, slow)
		if response.StatusCode != http.StatusRequestTimeout || time.Since(began) != 30*time.Second {
			t.Errorf("half a body: %d after %v", response.StatusCode, time.Since(began))
		}
		began = time.Now()
		silent := listener.dial()
		say(t, silent, "POST /webhooks/forge HTTP/1.1\r\nHost:")
		if _, err := io.Copy(io.Discard, silent); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("half a header: %v after %v", err, time.Since(began))
		}
		began = time.Now()
		last := listener.dial()
		say(t, last, "POST /webhooks/forge HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
		synctest.Wait()
		stop()
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) < 5*time.Second || time.Since(began) > 6*time.Second {
			t.Errorf("stopped after %v with %v", time.Since(began), err)
		}
		for _, conn := range []net.Conn{slow, silent, last} {
			_ = conn.Close()
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble: net/http waits before it closes a connection
	})
}

// Clients that do not read their responses make room for another one.
func TestListen_displacesClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, listener := newWorld(t, nil), newPipes()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Listen(ctx, listener, 5*time.Second) }()
		const most = 256 // of one address
		for range most {
			say(t, listener.dial(), "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		synctest.Wait()
		if status := quick(t, listener); status != http.StatusAccepted {
			t.Errorf("another one: %d", status)
		}
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.DeadlineExceeded) { // the others still do not read
			t.Error(err)
		}
	})
}

func say(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func answerOf(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response
}

// quick posts a push, and returns the status.
func quick(t *testing.T, listener *pipes) int {
	t.Helper()
	conn := listener.dial()
	defer func() { _ = conn.Close() }()
	r := post("/webhooks/forge", push)
	var head strings.Builder
	fmt.Fprintf(&head, "POST /webhooks/forge HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n", len(push))
	if err := r.Header.Write(&head); err != nil {
		t.Fatal(err)
	}
	say(t, conn, head.String()+"\r\n"+push)
	return answerOf(t, conn).StatusCode
}
