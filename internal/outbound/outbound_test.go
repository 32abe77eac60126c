package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

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

// fakeResolver answers every question for an address over one packet-less pipe.
func fakeResolver(answer func(name string) []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go serveDNS(theirs, answer)
		return ours, nil
	}}
}

// serveDNS speaks DNS over a stream (two bytes of length before a message),
// which is what net.Resolver does on a connection that is no packet connection.
func serveDNS(conn net.Conn, answer func(name string) []netip.Addr) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		var size [2]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		packet := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(in, packet); err != nil {
			return
		}
		reply, err := answerDNS(packet, answer)
		if err != nil {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

func answerDNS(packet []byte, answer func(name string) []netip.Addr) ([]byte, error) {
	var question dnsmessage.Message
	if err := question.Unpack(packet); err != nil {
		return nil, err
	}
	q := question.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: question.ID, Response: true, RecursionAvailable: true},
		Questions: question.Questions,
	}
	head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	for _, addr := range answer(strings.TrimSuffix(q.Name.String(), ".")) {
		switch {
		case q.Type == dnsmessage.TypeA && addr.Is4():
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
		case q.Type == dnsmessage.TypeAAAA && addr.Is6():
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return reply.Pack()
}

func address(text string) func(string) []netip.Addr {
	return func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(text)} }
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

func TestClient_T07_namesThatLeadInside(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the request arrived")
	}))
	t.Cleanup(server.Close)
	for _, to := range []string{"127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "100.64.0.1", "fe80::1", "64:ff9b::7f00:1"} {
		t.Run("T-07 a name at "+to, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Options{}, address(to))
			_, err := get(c, "https://registry.example.com:"+port(t, server)+"/")
			mustRefuse(t, err, "is not dialled")
			if !strings.Contains(err.Error(), "registry.example.com") {
				t.Errorf("error = %v, want the host in it", err)
			}
		})
	}
	t.Run("T-07 an address in the URL", func(t *testing.T) {
		t.Parallel()
		for _, host := range []string{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
			_, err := get(newClient(t, Options{}, nil), "https://"+host+":"+port(t, server)+"/")
			mustRefuse(t, err, "is not dialled")
		}
	})
	t.Run("T-07 numbers that a resolver reads as an address", func(t *testing.T) {
		t.Parallel()
		for _, host := range []string{"2130706433", "0x7f000001", "127.1", "017700000001"} {
			if _, err := get(newClient(t, Options{}, address("127.0.0.1")), "https://"+host+":"+port(t, server)+"/"); err == nil {
				t.Errorf("%s was answered", host)
			}
		}
	})
}

func TestClient_T07_rebindingGainsNothing(t *testing.T) {
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

func TestClient_T07_redirectsAreGuardedToo(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	t.Cleanup(inside.Close)
	outside := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(outside.Close)
	insidePort := port(t, inside)
	for name, to := range map[string]string{
		"T-07 to a private address":   "https://10.0.0.1/",
		"T-07 to metadata":            "https://169.254.169.254/latest/meta-data/",
		"T-07 down to plain http":     "http://public.example.com:" + insidePort + "/",
		"T-07 to another scheme":      "gopher://127.0.0.1:70/",
		"T-07 to a name that is here": "https://inner.example.com:" + insidePort + "/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, func(name string) []netip.Addr {
				if name == "inner.example.com" {
					return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
				}
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
			})
			trust(c, outside)
			_, err := get(c, "https://outer.example.com:"+port(t, outside)+"/?to="+url.QueryEscape(to))
			if err == nil {
				t.Fatal("the redirect was answered")
			}
			if !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "not dialled") && !strings.Contains(err.Error(), "scheme") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestClient_T07_plainHTTPOnlyWhereListed(t *testing.T) {
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
		{"T-07 neither listed", Options{}, "127.0.0.1", false},
		{"T-07 only the network listed", Options{Networks: loopback}, "127.0.0.1", false},
		{"T-07 only the host listed", Options{Insecure: []string{host}}, "127.0.0.1", false},
		{"T-07 listed host at a public address", Options{Insecure: []string{host}, Networks: loopback}, "1.1.1.1", false},
		{"T-07 listed host under another port", Options{Insecure: []string{"registry.example.com:1"}, Networks: loopback}, "127.0.0.1", false},
		{"host and network listed", Options{Insecure: []string{host}, Networks: loopback}, "127.0.0.1", true},
		{"host listed without its port", Options{Insecure: []string{"Registry.Example.com"}, Networks: loopback}, "127.0.0.1", true},
		{"the person's own machine", Options{AllowLoopback: true}, "127.0.0.1", true},
		{"T-07 a private address from the person's machine", Options{AllowLoopback: true}, "192.168.0.1", false},
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

func TestClient_credentialsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	second := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization") + r.Header.Get("Cookie") + r.Header.Get("Private-Token")
	}))
	t.Cleanup(second.Close)
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, second.URL, http.StatusFound)
	}))
	t.Cleanup(first.Close)
	// Same host name, another port: net/http itself would send the header on.
	c := newClient(t, Options{AllowLoopback: true}, nil)
	if _, err := get(c, first.URL, "Authorization", "Bearer canary", "Cookie", "canary=1", "Private-Token", "canary"); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "" {
		t.Errorf("the other host was sent %q", got)
	}
}

// A registry of the internet must not lead a person's own machine to the services
// that it runs for itself.
func TestClient_T07_noRedirectFromTLSToPlain(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("T-07 the redirect was followed") }))
	t.Cleanup(inside.Close)
	outside := httptest.NewTLSServer(http.RedirectHandler(inside.URL+"/_shutdown", http.StatusFound))
	t.Cleanup(outside.Close)
	c := newClient(t, Options{AllowLoopback: true}, nil)
	trust(c, outside)
	_, err := get(c, outside.URL)
	mustRefuse(t, err, "plain http")
}

func TestClient_aBodyStaysWithItsHost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		to      func(own, other string) string
		arrives bool
	}{
		"at the same host": {func(own, _ string) string { return own + "/2" }, true},
		"not at another":   {func(_, other string) string { return other }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var arrived atomic.Bool
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
			t.Cleanup(other.Close)
			own := httptest.NewServer(nil)
			own.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/2" {
					body, err := io.ReadAll(r.Body)
					arrived.Store(err == nil && string(body) == "refresh_token=canary")
					return
				}
				http.Redirect(w, r, tc.to(own.URL, other.URL), http.StatusTemporaryRedirect)
			})
			t.Cleanup(own.Close)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, own.URL, strings.NewReader("refresh_token=canary"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := (&http.Client{Transport: newClient(t, Options{AllowLoopback: true}, nil)}).Do(req)
			if err == nil {
				_ = resp.Body.Close()
			} else if !tc.arrives {
				mustRefuse(t, err, "redirects a request with a body to")
			}
			if (err == nil) != tc.arrives || arrived.Load() != tc.arrives {
				t.Errorf("arrived %v, err %v", arrived.Load(), err)
			}
		})
	}
}

func TestClient_redirectLimit(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("/%d", asked.Add(1)), http.StatusFound)
	})
	t.Cleanup(server.Close)
	c := newClient(t, Options{AllowLoopback: true}, nil)
	endless := &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := endless.Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("an endless redirect was answered")
	}
	if got := asked.Load(); got != maxRedirects+1 {
		t.Errorf("asked %d times, want %d", got, maxRedirects+1)
	}
}

func TestClient_timeoutCoversTheBody(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	c := newClient(t, Options{AllowLoopback: true, Timeout: 100 * time.Millisecond}, nil)
	_, err := get(c, server.URL)
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("err = %v (%s), want a temporary fault", err, fault.KindOf(err))
	}
}

func TestClient_placeIsGivenBackWithoutClose(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }))
	t.Cleanup(server.Close)
	c := newClient(t, Options{AllowLoopback: true, Budget: Budget{Concurrent: 1}, Timeout: 5 * time.Second}, nil)
	for range 3 {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNew_needsAClock(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a client without a clock was made")
	}
}

func TestReadAll_isBounded(t *testing.T) {
	t.Parallel()
	if data, err := ReadAll(strings.NewReader("12345"), 5); err != nil || string(data) != "12345" {
		t.Errorf("data, err = %q, %v", data, err)
	}
	if data, err := ReadAll(strings.NewReader("123456"), 5); data != nil || fault.KindOf(err) != fault.Invalid {
		t.Errorf("data, err = %q, %v", data, err)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }))
	defer server.Close()
	c, err := New(Options{AllowLoopback: true, Now: time.Now, Budget: Budget{PerSecond: 1e9, Burst: 1 << 30}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := get(c, server.URL); err != nil {
			b.Fatal(err)
		}
	}
}

func TestClient_placesAreWaitedFor(t *testing.T) {
	t.Parallel()
	arrived, leave := make(chan struct{}, 2), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-leave
	}))
	t.Cleanup(server.Close)
	c := newClient(t, Options{AllowLoopback: true, Budget: Budget{Concurrent: 1}}, nil)
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
