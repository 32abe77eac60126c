package outbound

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

func TestClient_guardsRedirects(t *testing.T) {
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
		"to a private address":   "https://10.0.0.1/",
		"to metadata":            "https://169.254.169.254/latest/meta-data/",
		"down to plain http":     "http://public.example.com:" + insidePort + "/",
		"to another scheme":      "gopher://127.0.0.1:70/",
		"to a name that is here": "https://inner.example.com:" + insidePort + "/",
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
			if !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "not dialed") && !strings.Contains(err.Error(), "scheme") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestClient_redirectsHaveNoReferer(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	second := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Referer")
	}))
	t.Cleanup(second.Close)
	first := httptest.NewServer(http.RedirectHandler(second.URL, http.StatusFound))
	t.Cleanup(first.Close)
	c := newClient(t, Options{AllowLoopback: true}, nil)
	if _, err := get(c, first.URL+"/token?account=canary"); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "" {
		t.Errorf("the other host was told %q", got)
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
func TestClient_noRedirectFromTLSToPlain(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(inside.Close)
	outside := httptest.NewTLSServer(http.RedirectHandler(inside.URL+"/_shutdown", http.StatusFound))
	t.Cleanup(outside.Close)
	c := newClient(t, Options{AllowLoopback: true}, nil)
	trust(c, outside)
	_, err := get(c, outside.URL)
	mustRefuse(t, err, "plain http")
}

func TestClient_refusesRedirectOfBodyToAnotherHost(t *testing.T) {
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
