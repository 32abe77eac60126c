package outbound

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// connectProxy tunnels every CONNECT to one address and counts them.
func connectProxy(t *testing.T, to string, asked *atomic.Int64) *url.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		upstream, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", to)
		if err != nil {
			http.Error(w, "unreachable", http.StatusBadGateway)
			return
		}
		defer func() { _ = upstream.Close() }()
		client, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = client.Close() }()
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(upstream, client) }()
		_, _ = io.Copy(client, upstream)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProxy_checksTargets(t *testing.T) {
	t.Parallel()
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "through") }))
	t.Cleanup(target.Close)
	for _, tc := range []struct {
		name, url string
		answer    func(string) []netip.Addr
		allowed   bool
	}{
		{"a public name", "https://quay.example/", address("1.1.1.1"), true},
		{"a name that only the proxy knows", "https://quay.example/", func(string) []netip.Addr { return nil }, true},
		{"a private address in the URL", "https://10.0.0.1/", address("1.1.1.1"), false},
		{"a name that is private here", "https://inner.example/", address("10.0.0.1"), false},
		{"metadata", "https://169.254.169.254/", address("1.1.1.1"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			proxy := connectProxy(t, target.Listener.Addr().String(), &asked)
			c := newClient(t, Options{Attempts: 1, Proxy: http.ProxyURL(proxy)}, tc.answer)
			trust(c, target)
			body, err := get(c, tc.url)
			if tc.allowed && (err != nil || body != "through") {
				t.Fatalf("body, err = %q, %v", body, err)
			}
			if !tc.allowed {
				mustRefuse(t, err, "is not dialed")
				if asked.Load() != 0 {
					t.Error("the proxy was asked")
				}
			}
		})
	}
}

func TestProxy_notForPlainHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "direct") }))
	t.Cleanup(server.Close)
	var asked atomic.Int64
	c := newClient(t, Options{AllowLoopback: true, Proxy: http.ProxyURL(connectProxy(t, "127.0.0.1:1", &asked))}, nil)
	if body, err := get(c, server.URL); err != nil || body != "direct" || asked.Load() != 0 {
		t.Errorf("body, err = %q, %v; proxy asked %d times", body, err, asked.Load())
	}
}

func TestProxy_bypassedForHost(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Attempts: 1, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}, address("127.0.0.1"))
	_, err := get(c, "https://quay.example/")
	mustRefuse(t, err, "is not dialed")
}

func TestProxy_invalidSetting(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("http://u:" + canary + "@[") }}, nil)
	_, err := get(c, "https://quay.example/")
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("err = %v", err)
	}
}
