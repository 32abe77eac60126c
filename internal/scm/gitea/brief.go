package gitea

import "net/http"

// brief asks for commits without what nobody here reads: files, statistics and
// whether signatures are good, each of which costs the server a run of Git. The
// library has no options for it.
type brief struct{ next http.RoundTripper }

// RoundTrip sends a copy of the request with the wishes in its query.
func (b brief) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := req.Clone(req.Context())
	asked.URL.RawQuery = "files=false&stat=false&verification=false"
	return b.next.RoundTrip(asked)
}

// briefly is the client for requests about commits.
func (f *Forge) briefly() *http.Client {
	client := *f.http
	client.Transport = brief{f.http.Transport}
	return &client
}
