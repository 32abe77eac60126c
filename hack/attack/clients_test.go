package attack

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Tokens of the API: one that may read everything, and one that may read nothing that exists.
const (
	readToken    = "the-token-of-the-api-that-reads-everything"
	nothingToken = "the-token-of-the-api-that-reads-nothing"
)

// requests are the heads of requests to every kind of path: webhooks, reports, snapshots, the API,
// pages, streams, sign-in, setup, badges, metrics, and health; without a credential and with one.
func requests() (heads []string) {
	paths := []string{
		"POST /webhooks/images", "POST /webhooks/none", "POST /webhooks/images/secret", "POST /api/v1/evidence", "POST /api/v1/snapshots",
		"POST /api/v1/decisions", "POST /api/v1/repositories/gitops/reconcile", "POST /api/v1/replay", "GET /api/v1/status", "GET /api/v1/changes", "GET /api/v1/openapi.yaml",
		"GET /", "GET /history", "GET /changes", "GET /sign-in", "POST /sign-in", "POST /sign-out", "POST /applications/shop/decide",
		"GET /sign-in/oidc", "GET /sign-in/callback", "GET /setup/git/secret", "GET /badges/token/shop.svg", "GET /static/app.css",
		"GET /metrics", "GET /healthz", "GET /readyz", "PUT /webhooks/images", "POST /nothing", "DELETE /",
	}
	for _, path := range paths {
		head := path + " HTTP/1.1\r\nHost: localhost\r\n"
		heads = append(heads, head, head+"Authorization: Bearer "+readToken+"\r\n")
	}
	return heads
}

// dialFrom connects to the service from an address of this machine. The connection is closed at the
// end of the attack.
func dialFrom(t testing.TB, p *service, address string, end <-chan struct{}) (net.Conn, error) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: time.Second}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		return nil, err
	}
	go func() {
		<-end
		_ = conn.Close()
	}()
	return conn, nil
}

// hold opens connections from some addresses, and opens each again as soon as it is closed. Begin
// sends what the client sends, and returns when it has nothing more to send.
func hold(t testing.TB, p *service, end <-chan struct{}, connections, addresses int, begin func(conn net.Conn, head string)) {
	t.Helper()
	heads := requests()
	var clients sync.WaitGroup
	for i := range connections {
		clients.Go(func() {
			for n := i; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				conn, err := dialFrom(t, p, fmt.Sprintf("127.0.0.%d", 2+i%addresses), end)
				if err != nil {
					<-time.After(10 * time.Millisecond)
					continue
				}
				begin(conn, heads[n%len(heads)])
				_, _ = io.Copy(io.Discard, conn) // until the service closes it
				_ = conn.Close()
				<-time.After(10 * time.Millisecond)
			}
		})
	}
	acceptValid(t, p, end)
	clients.Wait()
}

// acceptValid sends valid webhooks from another address until the end, and checks that all are
// accepted.
func acceptValid(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		if code := p.post(t, "none/image", true); code != http.StatusAccepted {
			t.Errorf("a valid webhook: %d", code)
		}
	}
}

// slowSenders are 1,000 clients of four addresses, each of which begins a request and sends a byte
// every second: of the header, or of the body.
func slowSenders(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	hold(t, p, end, 1000, 4, func(conn net.Conn, head string) {
		if strings.HasPrefix(head, "POST") {
			head += "Content-Length: 100000\r\n\r\n"
		}
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	})
}

// silentSenders are 1,000 clients of four addresses that announce a body, and never begin it.
func silentSenders(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	hold(t, p, end, 1000, 4, func(conn net.Conn, head string) {
		_, _ = io.WriteString(conn, head+"Content-Length: 100000\r\n\r\n")
	})
}

// endlessBodies are 64 clients of four addresses that send chunks without an end.
func endlessBodies(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	hold(t, p, end, 64, 4, func(conn net.Conn, head string) {
		_, err := io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			_, err = io.WriteString(conn, chunk)
		}
	})
}

// idleStreams opens streams of changes with a token that may read nothing, until the end. A token
// that may read something must get one all the time.
func idleStreams(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	var clients sync.WaitGroup
	var refused atomic.Int64
	for i := range 1200 {
		clients.Go(func() {
			conn, err := dialFrom(t, p, fmt.Sprintf("127.0.0.%d", 2+i%8), end)
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+nothingToken+"\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-end:
			clients.Wait()
			if n := refused.Load(); n > 0 {
				t.Errorf("a token that may read something was refused %d times", n)
			}
			return
		case <-tick.C:
		}
		if !opensStream(t, p) {
			refused.Add(1)
		}
	}
}

// opensStream reports whether a token that may read everything gets a stream.
func opensStream(t testing.TB, p *service) bool {
	t.Helper()
	end := make(chan struct{})
	defer close(end)
	conn, err := dialFrom(t, p, "127.0.0.100", end)
	if err != nil {
		return false
	}
	_, _ = io.WriteString(conn, "GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+readToken+"\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	return err == nil && response.StatusCode == http.StatusOK
}
