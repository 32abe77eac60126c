package outbound

import (
	"net/http"

	"promoter/internal/fault"
)

// maxRedirects is how many redirects are followed. The limit is here and not in an
// http.Client, because the libraries that use this transport have their own clients.
const maxRedirects = 5

// credentialHeaders are the headers that carry a credential.
var credentialHeaders = []string{"Authorization", "Cookie", "Private-Token", "Proxy-Authorization"}

// checkRedirects refuses a request that is one redirect too many, that goes from TLS to
// plain HTTP, or that carries a body to another host: a body may contain a credential,
// as for a token service.
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

// previous returns the request whose redirect caused this one.
func previous(req *http.Request) *http.Request {
	if req.Response == nil {
		return nil
	}
	return req.Response.Request
}

// dropForeignCredentials removes the credentials that were sent to another host earlier
// in the chain of redirects. net/http keeps an Authorization header for a subdomain and
// another port of the same host; neither is the host that the credential is for. A
// header that was set for the new host stays. It also removes the Referer that net/http
// adds: the query of the previous URL may contain a secret, and no server needs it.
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

// checkLocation refuses a redirect to an invalid URL; net/http would include the server's
// text in its error.
func checkLocation(resp *http.Response) error {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return nil
	}
	if _, err := resp.Request.URL.Parse(resp.Header.Get("Location")); err != nil {
		return fault.New(fault.Invalid, "%s redirects to an invalid URL", resp.Request.URL.Host)
	}
	return nil
}
