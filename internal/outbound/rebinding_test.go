package outbound

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
)

// A name whose answer changes after it was checked is checked again wherever it is dialed again: at
// the next request, at a redirect, and at a retry. A private address among several is never dialed.
func TestClient_namesThatChangeTheirAddress(t *testing.T) {
	t.Parallel()
	const public, inside = "127.0.0.1", "127.0.0.2" // the first one stands for the internet: it is listed
	for name, to := range map[string][]string{
		"loopback":                           {inside},
		"metadata":                           {"169.254.169.254"},
		"metadata of Amazon over IPv6":       {"fd00:ec2::254"},
		"metadata of Alibaba":                {"100.100.100.200"},
		"loopback over IPv6":                 {"::1"},
		"loopback mapped to IPv6":            {"::ffff:" + inside},
		"loopback behind NAT64":              {"64:ff9b::7f00:2"},
		"the unspecified address":            {"0.0.0.0"},
		"a private address, before the same": {"10.0.0.1", inside},
		"a private address, after a closed":  {"::2", inside},
	} {
		for how, follow := range map[string]struct {
			status int    // of the first response
			target string // of a redirect
		}{
			"the next request":            {http.StatusOK, ""},
			"a redirect to itself":        {http.StatusFound, "https://rebind.example.com"},
			"a redirect to another name":  {http.StatusTemporaryRedirect, "https://other.example.com"},
			"a redirect with a dot":       {http.StatusFound, "https://rebind.example.com."},
			"a redirect in another case":  {http.StatusFound, "https://REBIND.example.com"},
			"a retry of a failed request": {http.StatusServiceUnavailable, ""},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				var changed atomic.Bool
				outside := guarded(t, func(w http.ResponseWriter, r *http.Request) {
					if changed.Swap(true) {
						t.Error("a request arrived at an address that was not dialed")
					}
					w.Header().Set("Connection", "close") // so that the name is dialed again
					if follow.target != "" {
						w.Header().Set("Location", follow.target+":"+portOf(r.Host)+"/latest/meta-data/")
					}
					w.WriteHeader(follow.status)
				})
				outside.StartTLS()
				c := newClient(t, Options{Attempts: 2, Networks: []netip.Prefix{netip.MustParsePrefix(public + "/32")}}, func(string) []netip.Addr {
					if !changed.Load() {
						return []netip.Addr{netip.MustParseAddr(public)}
					}
					var all []netip.Addr
					for _, text := range to {
						all = append(all, netip.MustParseAddr(text))
					}
					return all
				})
				trust(c, outside)
				address := "https://rebind.example.com:" + port(t, outside) + "/"
				_, err := get(c, address)
				if follow.status == http.StatusOK && err == nil {
					_, err = get(c, address)
				}
				mustRefuse(t, err, "is not dialed")
			})
		}
	}
}

// Of several addresses, only permitted ones are dialed, in any order.
func TestClient_namesOfSeveralAddresses(t *testing.T) {
	t.Parallel()
	for name, to := range map[string][]string{
		"private first": {"127.0.0.2", "127.0.0.1"},
		"private last":  {"127.0.0.1", "127.0.0.2"},
		"of both kinds": {"::1", "127.0.0.2", "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := guarded(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("outside")) })
			outside.StartTLS()
			c := newClient(t, Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, func(string) []netip.Addr {
				var all []netip.Addr
				for _, text := range to {
					all = append(all, netip.MustParseAddr(text))
				}
				return all
			})
			trust(c, outside)
			if got, err := get(c, "https://registry.example.com:"+port(t, outside)+"/"); err != nil || got != "outside" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A host that the operator marks insecure gets plain HTTP at listed addresses only, also after its name
// changes.
func TestClient_insecureNamesThatChangeTheirAddress(t *testing.T) {
	t.Parallel()
	var changed atomic.Bool
	outside := guarded(t, func(w http.ResponseWriter, _ *http.Request) {
		changed.Store(true)
		w.Header().Set("Connection", "close")
	})
	outside.Start()
	host := "registry.example.com:" + port(t, outside)
	c := newClient(t, Options{Insecure: []string{host}, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, func(string) []netip.Addr {
		if changed.Load() {
			return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	if _, err := get(c, "http://"+host+"/"); err != nil {
		t.Fatal(err)
	}
	_, err := get(c, "http://"+host+"/")
	mustRefuse(t, err, "is refused")
}

// guarded makes a server that is not started at 127.0.0.1, and fails the test if something connects to
// the same port of 127.0.0.2.
func guarded(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	outside := httptest.NewUnstartedServer(handler)
	t.Cleanup(outside.Close)
	inside, err := listenInside(t, outside)
	for range 50 { // the port may be in use there
		if err == nil {
			break
		}
		_ = outside.Listener.Close()
		outside.Listener = listen(t, "127.0.0.1:0")
		inside, err = listenInside(t, outside)
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := inside.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			t.Error("a private address was dialed")
		}
	}()
	t.Cleanup(func() {
		_ = inside.Close()
		<-done
	})
	return outside
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// listenInside listens at the port of a server, at another address.
func listenInside(t *testing.T, outside *httptest.Server) (net.Listener, error) {
	t.Helper()
	return (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:"+portOf(outside.Listener.Addr().String()))
}

// portOf returns the port of a host with one.
func portOf(host string) string {
	u := url.URL{Host: host}
	return u.Port()
}
