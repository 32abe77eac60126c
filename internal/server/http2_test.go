package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/certificate/certificatetest"
	"promoter/internal/server"
)

// serveHTTP2 serves with TLS until the test ends. It returns the address of the server.
func serveHTTP2(t *testing.T, change func(*server.Options)) string {
	t.Helper()
	folder := t.TempDir()
	certificatetest.Write(t, folder, "1", time.Now().AddDate(0, 2, 0))
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *server.Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		change(o)
	})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Listen(ctx, listener, time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.DeadlineExceeded) { // slow clients may be there
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// overHTTP2 returns a client with one connection, which receives a number of bytes of each response
// before it is read; 0: any number.
func overHTTP2(t *testing.T, receives int) *http.Client {
	t.Helper()
	transport := &http.Transport{
		ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: receives},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // its own server
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Each request of HTTP/2 whose response is not read counts like a connection, and makes room.
func TestListen_displacesStreamsThatAreNotRead(t *testing.T) {
	t.Parallel()
	var limited atomic.Int64
	address := serveHTTP2(t, func(o *server.Options) {
		o.Limited = func(limit string) {
			if limit == "requests" {
				limited.Add(1)
			}
		}
	})
	const most, over = 256, 44
	var clients [3]*http.Client
	for i := range clients {
		clients[i] = overHTTP2(t, 1)
	}
	get := func(by *http.Client) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := by.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	for i := range most + over {
		response := get(clients[i%len(clients)])
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	other := get(overHTTP2(t, 0))
	if text, err := io.ReadAll(other.Body); err != nil || other.StatusCode != http.StatusOK || other.ProtoMajor != 2 {
		t.Errorf("another request: %s %q, %v", other.Status, text, err)
	}
	_ = other.Body.Close()
	if limited.Load() != over+1 {
		t.Errorf("%d made room, want %d", limited.Load(), over+1)
	}
}

// With HTTP/2, one connection has many requests at once: those whose bodies arrive slowest make room
// for others of the address.
func TestListen_limitsSlowBodiesOfHTTP2(t *testing.T) {
	t.Parallel()
	address := serveHTTP2(t, func(*server.Options) {})
	send := func(ctx context.Context, by *http.Client, body io.Reader, header http.Header) (int, int) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+"/webhooks/forge", body)
		if err != nil {
			return 0, 0
		}
		request.Header = header
		response, err := by.Do(request)
		if err != nil {
			return 0, 0
		}
		_ = response.Body.Close()
		return response.StatusCode, response.ProtoMajor
	}
	const slow, most = 150, 128
	codes := make(chan int, slow)
	clients := []*http.Client{overHTTP2(t, 0), overHTTP2(t, 0)}
	for i := range slow {
		reader, writer := io.Pipe()
		t.Cleanup(func() { _ = writer.Close() })
		go func() {
			_, _ = io.WriteString(writer, "{")
		}()
		go func() {
			code, _ := send(t.Context(), clients[i%2], reader, http.Header{})
			codes <- code
		}()
	}
	for range slow - most {
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("a displaced body: %d", code)
		}
	}
	code, version := send(t.Context(), overHTTP2(t, 0), strings.NewReader(push), post("/webhooks/forge", push).Header)
	if code != http.StatusAccepted || version != 2 {
		t.Errorf("another webhook: %d with HTTP/%d", code, version)
	}
}
