package registry

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote/transport"
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
	named := ggcr.NewUserAgent(s.base, "promoter")
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
