package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/fault"
)

// newClient makes a client whose names are resolved by answer.
func newClient(t *testing.T, options Options, answer func(name string) []netip.Addr) *Client {
	t.Helper()
	options.Now = time.Now
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	if answer != nil {
		c.transports(fakeResolver(answer))
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// trust lets the client believe the certificate of a test server.
func trust(c *Client, server *httptest.Server) {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	config := &tls.Config{RootCAs: pool, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	c.secure.TLSClientConfig = config
	c.proxied.TLSClientConfig = config.Clone()
}

func get(c *Client, url string, header ...string) (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: c}).Do(req)
	if err != nil {
		return "", Redact(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := ReadAll(resp.Body, 1<<20)
	return string(data), err
}

func mustRefuse(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil {
		t.Fatal("the request was answered")
	}
	if kind := fault.KindOf(errors.Unwrap(err)); kind != fault.Invalid && fault.KindOf(err) != fault.Invalid {
		t.Errorf("kind = %q, want invalid: %v", fault.KindOf(err), err)
	}
	if !strings.Contains(err.Error(), words) {
		t.Errorf("error = %v, want it to say %q", err, words)
	}
}

// port returns the port of a test server.
func port(t *testing.T, server *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func TestClient_refusesNamesOfPrivateAddresses(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the request arrived")
	}))
	t.Cleanup(server.Close)
	for _, to := range []string{"127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "100.64.0.1", "fe80::1", "64:ff9b::7f00:1"} {
		t.Run("a name at "+to, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Options{}, address(to))
			_, err := get(c, "https://registry.example.com:"+port(t, server)+"/")
			mustRefuse(t, err, "is not dialed")
			if !strings.Contains(err.Error(), "registry.example.com") {
				t.Errorf("error = %v, want the host in it", err)
			}
		})
	}
	t.Run("an address in the URL", func(t *testing.T) {
		t.Parallel()
		for _, host := range []string{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
			_, err := get(newClient(t, Options{}, nil), "https://"+host+":"+port(t, server)+"/")
			mustRefuse(t, err, "is not dialed")
		}
	})
	t.Run("numbers that a resolver reads as an address", func(t *testing.T) {
		t.Parallel()
		for _, host := range []string{"2130706433", "0x7f000001", "127.1", "017700000001"} {
			if _, err := get(newClient(t, Options{}, address("127.0.0.1")), "https://"+host+":"+port(t, server)+"/"); err == nil {
				t.Errorf("%s was answered", host)
			}
		}
	})
}

func TestClient_checksTheDialedAddress(t *testing.T) {
	t.Parallel()
	var arrived atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Store(true) }))
	t.Cleanup(server.Close)
	var asked atomic.Int64
	c := newClient(t, Options{Attempts: 1}, func(string) []netip.Addr {
		if asked.Add(1) <= 2 { // A and AAAA of the first look-up
			return []netip.Addr{netip.MustParseAddr("192.0.1.1"), netip.MustParseAddr("127.0.0.1")}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://rebind.example.com:"+port(t, server)+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := c.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
			t.Fatal("the request was answered")
		}
	}
	if arrived.Load() {
		t.Error("the request arrived at loopback")
	}
}

func TestClient_plainHTTPOnlyWhereListed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") }))
	t.Cleanup(server.Close)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	host := "registry.example.com:" + port(t, server)
	for _, tc := range []struct {
		name    string
		options Options
		to      string
		allowed bool
	}{
		{"neither listed", Options{}, "127.0.0.1", false},
		{"only the network listed", Options{Networks: loopback}, "127.0.0.1", false},
		{"only the host listed", Options{Insecure: []string{host}}, "127.0.0.1", false},
		{"listed host at a public address", Options{Insecure: []string{host}, Networks: loopback}, "1.1.1.1", false},
		{"listed host under another port", Options{Insecure: []string{"registry.example.com:1"}, Networks: loopback}, "127.0.0.1", false},
		{"host and network listed", Options{Insecure: []string{host}, Networks: loopback}, "127.0.0.1", true},
		{"host listed without its port", Options{Insecure: []string{"Registry.Example.com"}, Networks: loopback}, "127.0.0.1", true},
		{"the person's own machine", Options{AllowLoopback: true}, "127.0.0.1", true},
		{"a private address from the person's machine", Options{AllowLoopback: true}, "192.168.0.1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.options.Attempts = 1
			body, err := get(newClient(t, tc.options, address(tc.to)), "http://"+host+"/")
			if tc.allowed && (err != nil || body != "plain") {
				t.Fatalf("body, err = %q, %v", body, err)
			}
			if !tc.allowed {
				mustRefuse(t, err, "is refused")
			}
		})
	}
}

func TestNew_needsAClock(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a client without a clock was made")
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }))
	defer server.Close()
	c, err := New(Options{AllowLoopback: true, Now: time.Now, RateLimit: RateLimit{PerSecond: 1e9, Burst: 1 << 30}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := get(c, server.URL); err != nil {
			b.Fatal(err)
		}
	}
}

func TestClient_waitsForSlot(t *testing.T) {
	t.Parallel()
	arrived, leave := make(chan struct{}, 2), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-leave
	}))
	t.Cleanup(server.Close)
	c := newClient(t, Options{AllowLoopback: true, RateLimit: RateLimit{Concurrent: 1}}, nil)
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := get(c, server.URL)
			done <- err
		}()
	}
	<-arrived
	if len(arrived) != 0 {
		t.Error("the second request did not wait for its place")
	}
	close(leave)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
