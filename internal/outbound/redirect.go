package outbound

import (
	"net/http"

	"promoter/internal/fault"
)

// maxRedirects is how many redirects are followed. The limit stands here and
// not in a http.Client, because the libraries that use this transport bring
// their own clients.
const maxRedirects = 5

// credentialHeaders are the headers that carry a credential.
var credentialHeaders = []string{"Authorization", "Cookie", "Private-Token", "Proxy-Authorization"}

// checkRedirects refuses a request that is one redirect too many, that leads
// from TLS to plain http, or that carries a body to another host: a body may
// hold a credential, as that of a token service does.
func checkRedirects(req *http.Request) error {
	count := 0
	for before := previous(req); before != nil; before = previous(before) {
		count++
		switch {
		case count > maxRedirects:
			return fault.New(fault.Invalid, "%s redirects more than %d times", req.URL.Host, maxRedirects)
		case before.URL.Scheme == "https" && req.URL.Scheme == "http":
			return fault.New(fault.Invalid, "%s redirects to plain http, which is refused", before.URL.Host)
		case hasBody(req) && !sameHost(before, req):
			return fault.New(fault.Invalid, "%s redirects a request with a body to %s, which is refused", before.URL.Host, req.URL.Host)
		}
	}
	return nil
}

func sameHost(a, b *http.Request) bool {
	return a.URL.Host == b.URL.Host && a.URL.Scheme == b.URL.Scheme
}

// previous returns the request whose redirect made this one.
func previous(req *http.Request) *http.Request {
	if req.Response == nil {
		return nil
	}
	return req.Response.Request
}

// dropForeignCredentials takes off what was sent to another host before in the
// chain of redirects. net/http keeps an Authorization header towards a
// subdomain and another port of the same host; neither is the host that the
// credential is for. A header that was made for the new host stays. The Referer
// that net/http makes of the address before goes too: a query may hold a secret,
// and no server needs it.
func dropForeignCredentials(req *http.Request) {
	if previous(req) != nil {
		req.Header.Del("Referer")
	}
	for before := previous(req); before != nil; before = previous(before) {
		if sameHost(before, req) {
			continue
		}
		for _, name := range credentialHeaders {
			if value := req.Header.Get(name); value != "" && value == before.Header.Get(name) {
				req.Header.Del(name)
			}
		}
	}
}

// checkLocation refuses a redirect to what is no URL; net/http would put the
// server's words into its error.
func checkLocation(resp *http.Response) error {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return nil
	}
	if _, err := resp.Request.URL.Parse(resp.Header.Get("Location")); err != nil {
		return fault.New(fault.Invalid, "%s redirects to what is no URL", resp.Request.URL.Host)
	}
	return nil
}
