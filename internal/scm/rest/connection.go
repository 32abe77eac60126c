package rest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Connection configures access to one forge with one credential.
type Connection struct {
	// URL is the URL of the web pages, including the path of the server, if any. Empty: that
	// of the public server.
	URL string
	// API is the URL of the API. Empty: derived from URL.
	API string
	// Token returns the credential; it is called before every request. If absent,
	// requests are anonymous.
	Token func(ctx context.Context) (secret.String, error)
	// HTTP sends the requests. Its own redirect policy is not used.
	HTTP *http.Client
	// Now returns the current time.
	Now func() time.Time
	// Pace is the minimum interval between two writes. Zero: none.
	Pace time.Duration
	// Signs is set if the commits that are pushed are signed.
	Signs bool
	// Robots are accounts that the forge does not show as what they are.
	Robots Robots
}

// Page checks the connection, and returns the URL of the web pages without a slash at its
// end. Token, HTTP and Now are required, and a URL if the forge has no public server.
func (c Connection) Page(forge, public string) (*url.URL, error) {
	if c.Token == nil || c.HTTP == nil || c.Now == nil {
		return nil, fault.New(fault.Internal, "%s: a forge needs a token source, an HTTP client and a clock", forge)
	}
	page, err := WebURL(cmp.Or(c.URL, public))
	if err != nil {
		return nil, fmt.Errorf("the URL of %s: %w", forge, err)
	}
	page.Path = strings.TrimRight(page.Path, "/")
	return page, nil
}
