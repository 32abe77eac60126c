package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"promoter/internal/server"
)

// slowly is the end of a body: it signals that all before it was read, and waits.
type slowly struct {
	read chan<- struct{}
	end  <-chan struct{}
}

func (s slowly) Read([]byte) (int, error) {
	s.read <- struct{}{}
	<-s.end
	return 0, io.EOF
}

// unsigned is a webhook without a credential.
func unsigned(path string) *http.Request { return post(path, push, "X-Hub-Signature-256", "") }

func from(address string, r *http.Request) *http.Request {
	r.RemoteAddr = address
	return r
}

// Webhooks with a credential are accepted however many arrive without one, also from the
// same address: a proxy that is not trusted, or a shared network.
func TestWebhook_acceptsValidOnesDuringAFlood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	refused := map[int]int{}
	for i := range 400 {
		refused[w.answer(unsigned([]string{"/webhooks/forge", "/webhooks/nobody"}[i%2])).Code]++
		if i%4 == 0 {
			if got := w.answer(post("/webhooks/forge", push)); got.Code != http.StatusAccepted {
				t.Fatalf("valid webhook after %d others: %d %s", i, got.Code, got.Body)
			}
		}
	}
	if refused[http.StatusUnauthorized] != 50 || refused[http.StatusTooManyRequests] != 350 {
		t.Errorf("refused with %v", refused)
	}
}

// An exhausted address reveals neither which receivers exist, nor affects other addresses.
func TestWebhook_chargesTheAddressOfTheClient(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		proxies       []netip.Prefix
		remote        string // %d: another one for each client
		forwarded     string
		samePerClient bool // all clients are one source
	}{
		"IPv4":                    {remote: "192.0.2.%d:1000"},
		"IPv6":                    {remote: "[2001:db8:0:%d::1]:1000"},
		"addresses of one /64":    {remote: "[2001:db8::%d]:1000", samePerClient: true},
		"a header without trust":  {remote: "192.0.2.1:1000", forwarded: "198.51.100.%d", samePerClient: true},
		"a trusted proxy":         {[]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "192.0.2.1:1000", "198.51.100.%d", false},
		"a header behind a proxy": {[]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "192.0.2.1:1000", "198.51.100.%d, 203.0.113.1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *server.Options) { o.Proxies = test.proxies })
			send := func(client int, path string) int {
				r := unsigned(path)
				fill := func(text string) string {
					if strings.Contains(text, "%d") {
						return fmt.Sprintf(text, client)
					}
					return text
				}
				r.RemoteAddr = fill(test.remote)
				if test.forwarded != "" {
					r.Header.Set("X-Forwarded-For", fill(test.forwarded))
				}
				return w.answer(r).Code
			}
			for range 50 {
				send(1, "/webhooks/forge")
			}
			if known, unknown := send(1, "/webhooks/forge"), send(1, "/webhooks/nobody"); known != http.StatusTooManyRequests || unknown != known {
				t.Errorf("after 50: known %d, unknown %d", known, unknown)
			}
			want := http.StatusUnauthorized
			if test.samePerClient {
				want = http.StatusTooManyRequests
			}
			if got := send(2, "/webhooks/forge"); got != want {
				t.Errorf("another client: %d, want %d", got, want)
			}
		})
	}
}

// Bodies that never end fill a limited part of the memory, whether or not the receiver
// exists, and do not affect other addresses.
func TestWebhook_refusesBodiesBeyondTheBudget(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/webhooks/forge", "/webhooks/nobody"} {
		w := newWorld(t, nil)
		const most = 8 // of the largest
		read, end, codes := make(chan struct{}), make(chan struct{}), make(chan int)
		for range most {
			r := post(path, push+strings.Repeat(" ", 2<<20-len(push)))
			r.Body = io.NopCloser(io.MultiReader(r.Body, slowly{read, end}))
			go func() { codes <- w.answer(r).Code }()
		}
		for range most {
			<-read
		}
		got := w.answer(post(path, push))
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: one more: %d %v %s", path, got.Code, got.Header(), got.Body)
		}
		if got := w.answer(from("198.51.100.7:1000", post("/webhooks/forge", push))); got.Code != http.StatusAccepted {
			t.Errorf("%s: another address: %d %s", path, got.Code, got.Body)
		}
		close(end)
		for range most {
			if code := <-codes; code == http.StatusTooManyRequests {
				t.Errorf("%s: one of those before: %d", path, code)
			}
		}
		if got := w.answer(post(path, push)); got.Code == http.StatusTooManyRequests {
			t.Errorf("%s: after them: %d %s", path, got.Code, got.Body)
		}
	}
}

// An attacker with many addresses fills the table of sources, and no more.
func TestWebhook_remembersABoundedNumberOfAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255) }
	for i := range 4096 {
		w.answer(from(address(i), unsigned("/webhooks/forge")))
	}
	codes := map[int]int{}
	for i := range 60 {
		codes[w.answer(from(address(5000+i), unsigned("/webhooks/forge"))).Code]++
	}
	if codes[http.StatusTooManyRequests] != 10 {
		t.Errorf("60 more addresses: %v", codes)
	}
	if got := w.answer(from(address(6000), post("/webhooks/forge", push))); got.Code != http.StatusAccepted {
		t.Errorf("a valid webhook: %d", got.Code)
	}
}
