package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/database"
	"promoter/internal/store"
)

// sink is a response whose writes are received in order.
type sink struct {
	http.ResponseWriter
	written chan string
}

func (s sink) Write(b []byte) (int, error) {
	s.written <- string(b)
	return len(b), nil
}

func (s sink) Flush() {}

// A client gets the reconciliations that it may see, and nothing from before.
func TestChanges_stream(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	stored := store.New(db)
	at := time.Now()
	shop := store.Repository{Key: "1", Host: "github.com", Name: "acme/shop", ReconciledAt: at}
	billing := store.Repository{Key: "2", Host: "github.com", Name: "acme/billing", ReconciledAt: at}
	err = db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := stored.RecordReconciliation(ctx, tx, shop, store.HistoryUpdate{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	feed := &Changes{Store: stored}
	ctx, cancel := context.WithCancel(t.Context())
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	request.RemoteAddr = "[2001:db8::7]:1234"
	written := make(chan string, 10)
	c := echo.New().NewContext(request, sink{httptest.NewRecorder(), written})
	principal := access.Principal{Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: []string{"github.com/acme/shop"}}}
	ended := make(chan error, 1)
	go func() { ended <- feed.Stream(c, principal) }()
	if first := <-written; !strings.HasPrefix(first, "retry:") {
		t.Errorf("first: %q", first)
	}
	feed.mutex.Lock()
	if of := feed.byAddress[netip.MustParseAddr("2001:db8::")]; of != 1 {
		t.Errorf("%d streams of the /64 of the client: %v", of, feed.byAddress)
	}
	feed.mutex.Unlock()
	shop.ReconciledAt = at.Add(time.Minute)
	feed.compare([]store.Repository{shop, billing})
	feed.compare([]store.Repository{shop, billing})
	if got := <-written; got != "event: reconciled\ndata: github.com/acme/shop\n\n" {
		t.Errorf("a reconciliation: %q", got)
	}
	shop.ReconciledAt = at.Add(time.Hour)
	feed.compare([]store.Repository{shop, billing})
	if got := <-written; !strings.Contains(got, "acme/shop") {
		t.Errorf("again: %q", got)
	}
	cancel()
	if err := <-ended; err != nil || feed.Streams() > 0 {
		t.Errorf("after the client left: %v, %d", err, feed.Streams())
	}
	if len(written) > 0 {
		t.Errorf("more: %q", <-written)
	}
}

// listed are the repositories of a store.
type listed struct {
	all  []store.Repository
	read int
}

func (l *listed) Repositories(context.Context) ([]store.Repository, error) {
	l.read++
	return l.all, nil
}

func aRepository(name string) store.Repository {
	return store.Repository{Key: name, Host: "github.com", Name: name}
}

func reader(name string, repositories ...string) access.Principal {
	return access.Principal{Name: name, Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: repositories}}
}

// A principal that may read no repository holds no stream, whether there are others or not.
func TestChanges_nothingToRead(t *testing.T) {
	t.Parallel()
	for _, all := range [][]store.Repository{nil, {aRepository("acme/shop")}} {
		feed := &Changes{Store: &listed{all: all}}
		for _, who := range []access.Principal{reader("token other", "github.com/other/*"), {Name: "token none"}} {
			answer := httptest.NewRecorder()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // of a stream
			c := echo.New().NewContext(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), answer)
			if err := feed.Stream(c, who); err != nil || answer.Code != http.StatusNoContent || feed.Streams() != 0 {
				t.Errorf("%s with %d others: %d, %v, %d streams", who.Name, len(all), answer.Code, err, feed.Streams())
			}
			cancel()
		}
	}
}

// The streams of one principal, of one address, and of all without a credential leave room for
// others.
func TestChanges_limits(t *testing.T) {
	t.Parallel()
	limited, stored := 0, &listed{all: []store.Repository{aRepository("acme/shop")}}
	feed := &Changes{Store: stored, Limited: func(string) { limited++ }}
	type client struct {
		name    string
		address netip.Addr
	}
	var open []client
	join := func(name string, address int) int {
		t.Helper()
		one := client{name, netip.AddrFrom4([4]byte{192, 0, 2, byte(address)})}
		_, readable, err := feed.join(t.Context(), reader(one.name), one.address)
		if refused, ok := errors.AsType[*echo.HTTPError](err); ok {
			return refused.Code
		}
		if err != nil || !readable {
			t.Fatalf("%v, %v", readable, err)
		}
		open = append(open, one)
		return http.StatusOK
	}
	count := func(n int, join func(i int) int) map[int]int {
		codes := map[int]int{}
		for i := range n {
			codes[join(i)]++
		}
		return codes
	}
	for _, test := range []struct {
		name string
		n    int
		join func(i int) int
		want map[int]int
	}{
		{"one principal", 110, func(i int) int { return join("token a", i) }, map[int]int{http.StatusOK: 100, http.StatusTooManyRequests: 10}},
		{"one address", 110, func(i int) int { return join(fmt.Sprint("user ", i), 200) }, map[int]int{http.StatusOK: 100, http.StatusTooManyRequests: 10}},
		{"without a credential", 510, func(i int) int { return join(access.PublicName, i%100) }, map[int]int{http.StatusOK: 500, http.StatusTooManyRequests: 10}},
		{"all", 310, func(i int) int { return join(fmt.Sprint("token ", i), 100+i%100) }, map[int]int{http.StatusOK: 300, http.StatusServiceUnavailable: 10}},
	} {
		if diff := cmp.Diff(test.want, count(test.n, test.join)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
	if limited != 40 || stored.read != 1 {
		t.Errorf("%d were counted, the database was read %d times", limited, stored.read)
	}
	for _, one := range open {
		feed.leave(access.Principal{Name: one.name}, one.address)
	}
	if feed.Streams() != 0 || len(feed.byAddress)+len(feed.byPrincipal) != 0 {
		t.Errorf("after all left: %d streams, %v, %v", feed.Streams(), feed.byAddress, feed.byPrincipal)
	}
}

// A client gets a burst in few writes, and what changed several times since its last write once.
func TestChanges_bursts(t *testing.T) {
	t.Parallel()
	feed := &Changes{Store: &listed{}}
	position, _, err := feed.join(t.Context(), reader("token a"), netip.AddrFrom4([4]byte{192, 0, 2, 1}))
	if err != nil {
		t.Fatal(err)
	}
	const burst = 4000
	change := func(minute int) {
		var all []store.Repository
		for i := range burst {
			one := aRepository(fmt.Sprint("acme/", i))
			one.ReconciledAt = time.Date(2026, 11, 2, 10, minute, 0, 0, time.UTC)
			all = append(all, one)
		}
		feed.compare(all)
	}
	got := func() map[string]int {
		got := map[string]int{}
		for {
			names, after, _, more := feed.since(position)
			if !more || len(names) > changesAtOnce {
				t.Fatalf("%d names, %v", len(names), more)
			}
			if position = after; len(names) == 0 {
				return got
			}
			for _, name := range names {
				got[name]++
			}
		}
	}
	for _, minutes := range [][]int{{1}, {2, 3, 4}} {
		for _, minute := range minutes {
			change(minute)
		}
		if got := got(); len(got) != burst || got["github.com/acme/0"] != 1 || got["github.com/acme/3999"] != 1 {
			t.Errorf("after %d: got %d repositories, the first one %d times", minutes, len(got), got["github.com/acme/0"])
		}
	}
}

// Repositories that a client may not see do not end its stream, and it gets all of its own, however many others change
// while it does not read.
func TestChanges_hiddenBurstsDoNotEndAStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := &Changes{Store: &listed{all: []store.Repository{aRepository("acme/shop")}}, Limited: func(limit string) { t.Errorf("limited: %s", limit) }}
		ctx, cancel := context.WithCancel(t.Context())
		written := make(chan string) // a client that reads one event at a time
		c := echo.New().NewContext(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), sink{httptest.NewRecorder(), written})
		principal := access.Principal{
			Name: "token a", Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: []string{"github.com/acme/shop"}},
		}
		ended := make(chan error, 1)
		go func() { ended <- feed.Stream(c, principal) }()
		<-written
		synctest.Wait()
		at := time.Now()
		for i := range 3 {
			at = at.Add(time.Second)
			all := []store.Repository{{Key: "shop", Host: "github.com", Name: "acme/shop", ReconciledAt: at}}
			for j := range 20_000 {
				all = append(all, store.Repository{Key: fmt.Sprint(j), Host: "github.com", Name: fmt.Sprint("hidden/", j), ReconciledAt: at})
			}
			feed.compare(all)
			synctest.Wait()
			if got := <-written; got != "event: reconciled\ndata: github.com/acme/shop\n\n" {
				t.Errorf("burst %d: %q", i, got)
			}
			synctest.Wait()
		}
		select {
		case err := <-ended:
			t.Errorf("the stream ended: %v", err)
		default:
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Principals with many streams leave room for others.
func TestChanges_principalsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	feed := &Changes{Store: &listed{}}
	for i := range 25 { // tokens and users of one tenant, from as many addresses as they like
		for j := range maxStreamsPerPrincipal {
			_, _, _ = feed.join(t.Context(), reader(fmt.Sprint("token ", i)), netip.MustParseAddr(fmt.Sprintf("192.0.%d.%d", i, j)))
		}
	}
	if _, readable, err := feed.join(t.Context(), reader("another"), netip.MustParseAddr("198.51.100.1")); err != nil || !readable {
		t.Errorf("%d are open: %v, %v", feed.Streams(), readable, err)
	}
}

// pipe is a listener with one connection within the process.
type pipe struct{ conns chan net.Conn }

func (p pipe) Accept() (net.Conn, error) {
	conn, open := <-p.conns
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipe) Close() error   { return nil }
func (p pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// serveStreams serves streams of a feed, with the timeouts of the service, until stop is called. Dial connects to it.
func serveStreams(t *testing.T, feed *Changes, served *http.Server) (dial func() net.Conn, stop func()) {
	t.Helper()
	e := echo.New()
	e.GET("/", func(c echo.Context) error { return feed.Stream(c, reader("token a")) })
	served.Handler = e
	served.ReadTimeout, served.WriteTimeout = 30*time.Second, time.Minute
	listener, ended := pipe{make(chan net.Conn)}, make(chan error, 1)
	go func() { ended <- served.Serve(listener) }()
	dial = func() net.Conn {
		ours, theirs := net.Pipe()
		listener.conns <- theirs
		return ours
	}
	return dial, func() {
		close(listener.conns)
		_ = served.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

// requestStream requests a stream with HTTP/1.
func requestStream(t *testing.T, dial func() net.Conn) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := dial()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// A stream outlives the deadlines of other requests. A client that does not read is disconnected
// when one write took too long.
func TestChanges_deadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := &Changes{Store: &listed{}}
		dial, stop := serveStreams(t, feed, &http.Server{}) //nolint:gosec // serveStreams sets the timeouts
		ours, reading := requestStream(t, dial)
		began, alive := time.Now(), 0
		for alive < 20 {
			line, err := reading.ReadString('\n')
			if err != nil {
				t.Fatalf("after %v and %d comments: %v", time.Since(began), alive, err)
			}
			if strings.HasPrefix(line, ": alive") {
				alive++
			}
		}
		if took := time.Since(began); took != 20*keepAlive {
			t.Errorf("20 comments took %v", took)
		}
		time.Sleep(keepAlive + eventTimeout + time.Second) //nolint:forbidigo // the clock of the bubble
		synctest.Wait()
		if feed.Streams() != 0 {
			t.Error("a client that does not read is still connected")
		}
		_ = ours.Close()
		stop()
	})
}

// A client that does not read holds no connection after its stream has ended: net/http writes once more.
func TestChanges_deadlineOfTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := &Changes{Store: &listed{}}
		closed := make(chan struct{})
		dial, stop := serveStreams(t, feed, &http.Server{ConnState: func(_ net.Conn, state http.ConnState) { //nolint:gosec // as above
			if state == http.StateClosed {
				close(closed)
			}
		}})
		ours, reading := requestStream(t, dial)
		for line := ""; !strings.HasPrefix(line, "retry:"); {
			var err error
			if line, err = reading.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = io.CopyN(io.Discard, reading, int64(len("\n\r\n"))) // the end of the event, and of its chunk
		synctest.Wait()
		feed.end()
		select {
		case <-closed:
		case <-time.After(eventTimeout + time.Second):
			t.Error("the connection is still open")
		}
		_ = ours.Close()
		stop()
	})
}

// With HTTP/2, a deadline ends a stream when it passes, and not only a write that it finds waiting.
func TestChanges_http2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := &Changes{Store: &listed{}}
		protocols := &http.Protocols{}
		protocols.SetUnencryptedHTTP2(true)
		dial, stop := serveStreams(t, feed, &http.Server{Protocols: protocols}) //nolint:gosec // as above
		transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
			return dial(), nil
		}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://promoter.example.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		reading, alive := bufio.NewReader(response.Body), 0
		for began := time.Now(); alive < 20; {
			line, err := reading.ReadString('\n')
			if err != nil {
				t.Errorf("after %v and %d comments: %v", time.Since(began), alive, err)
				break
			}
			if strings.HasPrefix(line, ": alive") {
				alive++
			}
		}
		_ = response.Body.Close()
		transport.CloseIdleConnections()
		stop()
	})
}
