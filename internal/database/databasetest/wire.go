package databasetest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"promoter/internal/database"
	"promoter/internal/secret"
)

// Wire lies between promoter and a PostgreSQL server: it can be cut, or swallow what is
// sent.
type Wire struct {
	server string

	mu    sync.Mutex
	state wireState
	open  []net.Conn
	heals chan struct{} // closed when it no longer swallows
}

type wireState int

const (
	whole wireState = iota
	cut
	deaf
)

// NewWire returns a wire to the server of the tests, and the options to use it.
func NewWire(t testing.TB) (*Wire, database.Options) {
	t.Helper()
	address, err := url.Parse(Kinds()[1].New(t).URL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{server: address.Host, heals: make(chan struct{})}
	address.Host = listener.Addr().String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.Cut()
		all.Wait()
	})
	return w, database.Options{URL: secret.New(address.String() + "&connect_timeout=8")}
}

// Cut ends all connections, and lets none be made.
func (w *Wire) Cut() { w.set(cut) }

// Swallow takes what is sent, and answers nothing.
func (w *Wire) Swallow() { w.set(deaf) }

// Restore forwards everything again.
func (w *Wire) Restore() { w.set(whole) }

// set changes what the wire does. All connections that are open end when it is cut.
func (w *Wire) set(state wireState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case state == deaf:
		w.heals = make(chan struct{})
	case w.state == deaf:
		close(w.heals)
	}
	w.state = state
	if state != cut {
		return
	}
	for _, conn := range w.open {
		_ = conn.Close()
	}
	w.open = nil
}

// keep remembers the connections; none is kept while the wire is cut.
func (w *Wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == cut {
		return false
	}
	w.open = append(w.open, conns...)
	return true
}

func (w *Wire) serve(from net.Conn) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", w.server) //nolint:noctx // it ends with the wire
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	if !w.keep(from, to) {
		return
	}
	go func() {
		_, _ = io.Copy(w.through(from), to)
		_ = from.Close()
	}()
	_, _ = io.Copy(to, from)
}

// through returns a writer that waits while the wire swallows.
func (w *Wire) through(to io.Writer) io.Writer {
	return writerFunc(func(text []byte) (int, error) {
		w.mu.Lock()
		swallows, heals := w.state == deaf, w.heals
		w.mu.Unlock()
		if swallows {
			<-heals
		}
		return to.Write(text)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }
