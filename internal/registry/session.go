package registry

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"promoter/internal/fault"
)

// session is a login at a registry for one repository. The puller and the
// tag list share it, so that a repository costs one token.
type session struct {
	repository name.Repository
	auth       authn.Authenticator
	base       http.RoundTripper

	mu       sync.Mutex
	login    *login
	pageSize int
}

// login is a session after the registry said how it wants one.
type login struct {
	puller *remote.Puller
	client *http.Client
}

// open logs in once; a failure is tried again by the next question.
func (s *session) open(ctx context.Context) (*login, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login != nil {
		return s.login, nil
	}
	// The result is a *ggcr.Wrapper, which the puller takes as it is: without a
	// ping of its own and without its own retries under those of the way out.
	base := s.base
	if s.auth != authn.Anonymous {
		base = homeLogin{base}
	}
	named := ggcr.NewUserAgent(base, "promoter")
	authenticated, err := ggcr.NewWithContext(ctx, s.repository.Registry, s.auth, named,
		[]string{s.repository.Scope(ggcr.PullScope)})
	if err != nil {
		return nil, err
	}
	puller, err := remote.NewPuller(remote.WithTransport(authenticated))
	if err != nil {
		return nil, err
	}
	s.login = &login{puller: puller, client: &http.Client{Transport: authenticated}}
	return s.login, nil
}

// homeLogin refuses that another host says how to log in: it would name a token
// service of its own, and the registry's credential would go there. Without a
// credential nothing is lost, and some registries are only a name before others.
type homeLogin struct{ http.RoundTripper }

// RoundTrip sends a request that is not a ping which was led away.
func (h homeLogin) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := req
	for asked.Response != nil {
		asked = asked.Response.Request
	}
	if isPing(asked) && asked.URL.Host != req.URL.Host {
		return nil, fault.New(fault.Invalid, "%s leads to %s for the login, and the credential is not for that host: name %s in the image if it is meant", asked.URL.Host, req.URL.Host, req.URL.Host)
	}
	return h.RoundTripper.RoundTrip(req)
}

// size returns how many tags are asked for at once; zero leaves it to the
// registry.
func (s *session) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pageSize
}

// shrink halves the page after the registry refused it, and says whether there
// is anything left to try. After a page of one comes the registry's own size.
func (s *session) shrink(refused int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused == 0 {
		return false
	}
	if s.pageSize == refused {
		s.pageSize = refused / 2
	}
	return true
}
