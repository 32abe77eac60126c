package gitea

import (
	"net/http"
	"strings"
)

// Wishes for which the library has no options.
const (
	// brief asks for commits without what nobody here reads: files, statistics and
	// whether signatures are good, each of which costs the server a run of Git.
	brief = "files=false&stat=false&verification=false"
	// byIndex asks for statuses by their index, the highest first, as this word
	// means: by time, those of one second may be in another order on each page.
	byIndex = "sort=leastindex"
)

// wishing adds wishes to the query of every request.
type wishing struct {
	next   http.RoundTripper
	wishes string
}

// RoundTrip sends a copy of the request with the wishes in its query.
func (w wishing) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := req.Clone(req.Context())
	asked.URL.RawQuery = strings.TrimPrefix(asked.URL.RawQuery+"&"+w.wishes, "&")
	return w.next.RoundTrip(asked)
}

// wishing is the client for requests with wishes.
func (f *Forge) wishing(wishes string) *http.Client {
	client := *f.http
	client.Transport = wishing{f.http.Transport, wishes}
	return &client
}
