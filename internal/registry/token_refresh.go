package registry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Source provides logins that expire, as the token services of clouds do.
type Source interface {
	// Login requests a new login. An error is a fault with advice and without any
	// secret.
	Login(ctx context.Context) (username string, password secret.String, expires time.Time, err error)
}

// Logins keep the logins of sources from one Client to the next, so that a login is
// requested when it expires and not in each reconciliation. They are only in memory.
type Logins struct {
	mu         sync.Mutex
	refreshers map[string]*refresher // by the ID of the entry
}

// NewLogins makes an empty one.
func NewLogins() *Logins { return &Logins{refreshers: map[string]*refresher{}} }

// refresher returns the refresher of an entry. Its next login comes from the newest
// source, because the source's settings may have changed.
func (l *Logins) refresher(id string, c Credential, now func() time.Time) *refresher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.refreshers[id]; ok {
		known.setSource(c.Source)
		return known
	}
	made := newRefresher(c.Host, c.Source, now)
	l.refreshers[id] = made
	return made
}

// keepOnly drops the logins of entries that no longer exist.
func (l *Logins) keepOnly(entries []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := make(map[string]bool, len(entries))
	for _, e := range entries {
		current[e.id] = true
	}
	for id := range l.refreshers {
		if !current[id] {
			delete(l.refreshers, id)
		}
	}
}

// Times of a login that expires.
const (
	// refreshBefore is how long before its expiry a login is refreshed: a request may
	// take a minute, and clocks differ. A login that is valid for less than four times
	// as long is refreshed in the last quarter of its life.
	refreshBefore = 5 * time.Minute
	// minimumUse is how long a login is used although it seems to have expired: a wrong
	// clock must not cost a login for each request.
	minimumUse = time.Minute
	// failureFor is how long a failure is the result of all requests: many images use
	// one token service.
	failureFor = 30 * time.Second
	// refusalFor is how long no login is replaced because the registry refused it: a
	// missing permission looks the same as an expired login.
	refusalFor = 5 * time.Minute
	// loginTimeout bounds one login.
	loginTimeout = time.Minute
)

// refresher is the authenticator of all repositories of an entry. It keeps the login of
// its source until shortly before it expires.
type refresher struct {
	host string
	now  func() time.Time
	busy chan struct{} // held while the source is called; all others wait for the result

	mu        sync.Mutex
	source    Source
	current   token
	failure   error
	failUntil time.Time // until then the failure is the result
	replaced  time.Time // when a refused login was last replaced
}

// token is a login with its times.
type token struct {
	number  int // counts the logins; zero: there is none yet
	config  authn.AuthConfig
	refresh time.Time // when it is to be refreshed
	expires time.Time // as the source says
}

func newRefresher(host string, source Source, now func() time.Time) *refresher {
	return &refresher{host: host, source: source, now: now, busy: make(chan struct{}, 1)}
}

func (r *refresher) setSource(source Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source = source
}

// Authorization implements authn.Authenticator.
func (r *refresher) Authorization() (*authn.AuthConfig, error) {
	return r.AuthorizationContext(context.Background())
}

// AuthorizationContext implements authn.ContextAuthenticator.
func (r *refresher) AuthorizationContext(ctx context.Context) (*authn.AuthConfig, error) {
	if config, err := r.known(); config != nil || err != nil {
		return config, err
	}
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Temporary, ctx.Err())
	}
	if config, err := r.known(); config != nil || err != nil {
		return config, err
	}
	return r.refresh(ctx)
}

// known returns the login, or the failure, that is still valid; nil if neither is. Each
// caller gets its own copy, because the library may write to it.
func (r *refresher) known() (*authn.AuthConfig, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.failure != nil && now.Before(r.failUntil) {
		return nil, r.failure
	}
	if r.current.number == 0 || !now.Before(r.current.refresh) {
		return nil, nil //nolint:nilnil // neither is known
	}
	config := r.current.config
	return &config, nil
}

// refresh calls the source. After a failure the old login is used until it expires;
// then the failure is the result for some time. A caller that went away fails alone.
func (r *refresher) refresh(ctx context.Context) (*authn.AuthConfig, error) {
	bounded, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	r.mu.Lock()
	source := r.source
	r.mu.Unlock()
	username, password, expires, err := source.Login(bounded)
	if err == nil && password.IsZero() {
		err = fault.New(fault.Temporary, "the response has no login")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if err == nil {
		r.failure = nil
		r.current = token{
			number:  r.current.number + 1,
			config:  authn.AuthConfig{Username: username, Password: password.Reveal()},
			refresh: refreshAt(now, expires),
			expires: expires,
		}
		config := r.current.config
		return &config, nil
	}
	failure := r.explain(err)
	if ctx.Err() != nil {
		return nil, failure
	}
	again := now.Add(failureFor)
	if until, ok := fault.RetryAt(failure); ok {
		again = until
	}
	if r.current.number > 0 && now.Before(r.current.expires) {
		r.current.refresh = again
		if r.current.expires.Before(again) {
			r.current.refresh = r.current.expires
		}
		config := r.current.config
		return &config, nil
	}
	r.failure, r.failUntil = failure, again
	return nil, failure
}

// explain adds the registry to an error. One without a kind is of the network.
func (r *refresher) explain(err error) error {
	kind := fault.KindOf(err)
	if kind == fault.Internal {
		kind = fault.Temporary
	}
	known := &fault.Error{Kind: kind, Err: fmt.Errorf("no login for %s: %w", r.host, err)}
	known.RetryAt, _ = fault.RetryAt(err)
	return known
}

// refreshAt is when to refresh a login that expires at a time.
func refreshAt(now, expires time.Time) time.Time {
	life := expires.Sub(now)
	if life <= minimumUse {
		return now.Add(minimumUse)
	}
	return expires.Add(-min(refreshBefore, life/4))
}

// number returns the number of the current login; zero: there is none.
func (r *refresher) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current.number
}

// refused is called when the registry refused a request that began with the login of a
// number. It reports whether another attempt may help: with a newer login. If there is
// none, it requests one at most every refusalFor.
func (r *refresher) refused(number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch now := r.now(); {
	case number == 0 || r.failure != nil && now.Before(r.failUntil):
		return false // the login was requested for this very request
	case r.current.number != number:
		return true
	case !r.replaced.IsZero() && now.Before(r.replaced.Add(refusalFor)):
		return false
	default:
		r.replaced = now
		r.current.refresh = time.Time{}
		r.current.expires = time.Time{}
		return true
	}
}
