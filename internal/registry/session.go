package registry

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"golang.org/x/net/publicsuffix"

	"promoter/internal/fault"
)

// session is the login at a registry for one image repository. Manifests and tag lists
// share it, so a repository costs one token.
type session struct {
	repository name.Repository
	auth       authn.Authenticator
	realm      realm
	base       *transport

	pageSize atomic.Int64 // of tag lists; zero leaves it to the registry

	mu         sync.Mutex
	connection *connection
	answered   *challenge      // that a request was refused with; nil: that of the ping
	tried      map[string]bool // IDs of challenges that were answered
}

// connection is a session after the registry said how to log in.
type connection struct {
	login  *login
	puller *remote.Puller
}

// login sends requests as the registry wants them.
type login struct {
	client    *http.Client
	transport *loginTransport
}

// maxRefusals is how many 401 responses a connection is used for. Each may name a scope
// that the library then requests forever; most only mean that a token expired.
const maxRefusals = 32

// open logs in once; after a failure the next request tries again.
func (s *session) open(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connection != nil && s.connection.login.transport.refusals.Load() < maxRefusals {
		return s.connection, nil
	}
	made, err := s.login(ctx)
	if err != nil {
		return nil, err
	}
	puller, err := remote.NewPuller(remote.WithTransport(made.client.Transport))
	if err != nil {
		return nil, err
	}
	s.connection = &connection{login: made, puller: puller}
	return s.connection, nil
}

// login asks the registry how to log in, and does so. All repositories of a host that wants no login share
// one without a credential.
func (s *session) login(ctx context.Context) (*login, error) {
	host, anonymous := s.repository.RegistryStr(), s.auth == authn.Anonymous
	if anonymous && s.answered == nil {
		if known := s.base.open(host); known != nil {
			return known, nil
		}
	}
	for {
		// NewWithContext returns a *ggcr.Wrapper, which the puller uses as it is: without
		// another ping and without its own retries below those of the outbound client.
		through := &loginTransport{inner: s.base, host: host, homeOnly: !anonymous, realm: s.realm, answers: s.answered}
		authenticated, err := ggcr.NewWithContext(ctx, s.repository.Registry, s.auth, ggcr.NewUserAgent(through, "promoter"),
			[]string{s.repository.Scope(ggcr.PullScope)})
		if refused, is := errors.AsType[*ggcr.Error](err); is && refused.StatusCode < http.StatusInternalServerError && s.next(through) {
			continue // a token service refused, and the registry offers another login
		}
		if err != nil {
			return nil, err
		}
		made := &login{client: &http.Client{Transport: authenticated}, transport: through}
		if anonymous && s.answered == nil {
			s.base.setOpen(host, made)
		}
		return made, nil
	}
}

// answer reports whether the request that was just refused offers a login that was not tried yet. The next connection uses it.
// The challenge of a request counts more than that of the ping: registries of several tenants have one for each repository,
// and some answer the ping without asking for a login.
func (s *session) answer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connection == nil || !s.next(s.connection.login.transport) {
		return false
	}
	s.connection = nil
	return true
}

// next selects the strongest challenge that a connection got, and that was not tried yet. The caller holds the lock.
func (s *session) next(of *loginTransport) bool {
	if s.tried == nil {
		s.tried = map[string]bool{}
	}
	if first := of.first.Load(); first != nil {
		s.tried[first.id()] = true
	}
	offered := of.offered.Load()
	if offered == nil {
		return false
	}
	for _, one := range *offered {
		if s.tried[one.id()] || one.scheme == "basic" && s.auth == authn.Anonymous {
			continue
		}
		s.tried[one.id()], s.answered = true, &one
		return true
	}
	return false
}

// connected reports whether there is a connection, whose token may have expired.
func (s *session) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connection != nil
}

// shrink halves the page size after the registry refused it, and reports whether there
// is a smaller one to try. After a page of one comes the registry's own size.
func (s *session) shrink(refused int64) bool {
	s.pageSize.CompareAndSwap(refused, refused/2) // else another request has done so
	return refused != 0
}

// loginTransport sends the requests of one connection, and keeps the credential from
// hosts that it is not for.
type loginTransport struct {
	inner    http.RoundTripper
	host     string
	homeOnly bool // only the registry itself may name the token service
	realm    realm
	answers  *challenge // to answer instead of that of the ping; nil: that of the ping
	refusals atomic.Int64

	first   atomic.Pointer[challenge]   // that is answered; nil: none
	offered atomic.Pointer[[]challenge] // by the registry itself, last
}

// RoundTrip refuses a login that another host describes: it would name its own token
// service, and the credential would go there. Without a credential nothing is lost, and
// some registries are only names in front of others.
func (l *loginTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	first := req
	for first.Response != nil {
		first = first.Response.Request
	}
	if l.homeOnly && isPing(first) && first.URL.Host != req.URL.Host {
		return nil, fault.New(fault.Invalid,
			"%s redirects to %s for the login, and the credential is not for that host: "+
				"name %s in the image if it is meant", first.URL.Host, req.URL.Host, req.URL.Host)
	}
	if err := l.realm.check(req); err != nil {
		return nil, err
	}
	resp, err := l.inner.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	unauthorized := resp.StatusCode == http.StatusUnauthorized
	if offered := challenges(resp.Header.Values("WWW-Authenticate")); unauthorized && req.URL.Host == l.host && len(offered) > 0 {
		l.offered.Store(&offered)
	}
	if unauthorized {
		l.refusals.Add(1)
	}
	if isPing(first) {
		l.hint(resp)
	}
	return resp, nil
}

// hint leaves of the response to a ping what the library can answer: one challenge, or none.
func (l *loginTransport) hint(resp *http.Response) {
	answers := l.answers
	if offered := l.offered.Load(); answers == nil && resp.StatusCode == http.StatusUnauthorized && offered != nil {
		answers = &(*offered)[0]
	}
	switch {
	case answers != nil && resp.StatusCode < http.StatusInternalServerError:
		resp.StatusCode, resp.Header = http.StatusUnauthorized, answers.header()
		l.first.Store(answers)
	case isOpen(resp.StatusCode):
		resp.StatusCode = http.StatusOK
	}
}

// realm decides which token services may get the credential of a registry. A registry
// names its token service, and may name any. The usual ones belong to it by name: the
// same host (Harbor, GHCR, Quay, the clouds), or one below the same registered domain
// (auth.docker.io of Docker Hub, gitlab.com of registry.gitlab.com).
type realm struct {
	registry string // its host
	named    string // the one in the server file; empty: none
	anywhere bool   // a user's Docker configuration, which Docker sends anywhere
}

func (g grant) realm(registry name.Repository) realm {
	return realm{registry: bareHost(registry.RegistryStr()), named: bareHost(g.tokenHost), anywhere: g.docker}
}

// check refuses a request that takes the credential to another host. Redirects pass:
// the outbound client removes credentials from them.
func (r realm) check(req *http.Request) error {
	host := bareHost(req.URL.Host)
	carries := req.Header.Get("Authorization") != "" || req.Body != nil && req.Body != http.NoBody
	if req.Response != nil || !carries || r.admits(host) {
		return nil
	}
	const advice = "if it does, write `tokenHost: %s` beside the credentials in the server file"
	return fault.New(fault.Invalid,
		"%s wants the credential to be sent to %s, which does not belong to it by its name: "+advice, r.registry, host, host)
}

func (r realm) admits(host string) bool {
	return r.anywhere || host == r.registry || r.named != "" && host == r.named || sameOwner(host, r.registry)
}

// sameOwner reports whether two names are below one registered domain.
func sameOwner(a, b string) bool {
	if _, err := netip.ParseAddr(a); err == nil {
		return false
	}
	one, err := publicsuffix.EffectiveTLDPlusOne(a)
	if err != nil {
		return false
	}
	other, err := publicsuffix.EffectiveTLDPlusOne(b)
	return err == nil && one == other
}

// bareHost is a host without its port, in lower case.
func bareHost(host string) string {
	return strings.TrimSuffix(strings.ToLower((&url.URL{Host: host}).Hostname()), ".")
}
