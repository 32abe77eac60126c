package registry

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

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
	realm      realm
	base       http.RoundTripper

	mu       sync.Mutex
	login    *login
	pageSize int
}

// login is a session after the registry said how it wants one.
type login struct {
	puller    *remote.Puller
	client    *http.Client
	transport *loginTransport
}

// maxRefusals is how many refusals a login is good for. Each may name a scope
// that the library asks for ever after; most only say that a token ran out.
const maxRefusals = 32

// open logs in once; a failure is tried again by the next question.
func (s *session) open(ctx context.Context) (*login, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login != nil && s.login.transport.refusals.Load() < maxRefusals {
		return s.login, nil
	}
	// The result is a *ggcr.Wrapper, which the puller takes as it is: without a
	// ping of its own and without its own retries under those of the way out.
	through := &loginTransport{inner: s.base, home: s.auth != authn.Anonymous, realm: s.realm}
	named := ggcr.NewUserAgent(through, "promoter")
	authenticated, err := ggcr.NewWithContext(ctx, s.repository.Registry, s.auth, named,
		[]string{s.repository.Scope(ggcr.PullScope)})
	if err != nil {
		return nil, err
	}
	puller, err := remote.NewPuller(remote.WithTransport(authenticated))
	if err != nil {
		return nil, err
	}
	s.login = &login{puller: puller, client: &http.Client{Transport: authenticated}, transport: through}
	return s.login, nil
}

// used says that there is a login already, which may have run out.
func (s *session) used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.login != nil
}

// loginTransport is what the requests of one login go through.
type loginTransport struct {
	inner    http.RoundTripper
	home     bool // only the registry itself may say how to log in
	realm    realm
	refusals atomic.Int64
}

// RoundTrip refuses that another host says how to log in with a credential: it
// would name a token service of its own, and the credential would go there.
// Without one nothing is lost, and some registries are only a name before others.
func (l *loginTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if asked := origin(req); l.home && isPing(asked) && asked.URL.Host != req.URL.Host {
		return nil, fault.New(fault.Invalid, "%s leads to %s for the login, and the credential is not for that host: name %s in the image if it is meant", asked.URL.Host, req.URL.Host, req.URL.Host)
	}
	if err := l.realm.check(req); err != nil {
		return nil, err
	}
	resp, err := l.inner.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		l.refusals.Add(1)
	}
	return resp, err
}

// origin is the request that redirects led to this one.
func origin(req *http.Request) *http.Request {
	for req.Response != nil {
		req = req.Response.Request
	}
	return req
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
