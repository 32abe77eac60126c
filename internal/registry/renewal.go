package registry

import (
	"context"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Source gives logins that run out, as the token services of clouds do.
type Source interface {
	// Login asks for a new login. A failure is a fault that says what to do and
	// holds no secret.
	Login(ctx context.Context) (username string, password secret.String, expires time.Time, err error)
}

// Times of a login that runs out.
const (
	// earlier is how long before its end a login is renewed: a question may take
	// a minute, and clocks differ. A login that lives for less than four times
	// that is renewed in the last quarter of its life.
	earlier = 5 * time.Minute
	// shortest is how long a login is used although it says that it ran out: a
	// clock that is wrong must not cost a login for each question.
	shortest = time.Minute
	// failedFor is how long a failure is the answer: the images of a registry are
	// many, and the token service is one.
	failedFor = 30 * time.Second
	// refusedFor is how long no login is renewed again because the registry
	// refused it: that a right is missing looks the same as that it ran out.
	refusedFor = 5 * time.Minute
	// loginTimeout bounds the questions for one login.
	loginTimeout = time.Minute
)

// refresher keeps the login of a source until shortly before it runs out. It is the
// authenticator of all repositories that the entry is for.
type refresher struct {
	host string
	now  func() time.Time
	turn chan struct{} // who asks the source; everybody else waits for the answer

	mu      sync.Mutex
	source  Source
	current token
	failure error
	again   time.Time // until then the failure is the answer
	forced  time.Time // when a refused login was last renewed
}

// token is a login with its time.
type token struct {
	number int // counts the logins; zero: there was none yet
	config authn.AuthConfig
	renew  time.Time // when it is to be renewed
	ends   time.Time // as the source says
}

// copied gives a caller a login of its own: the library may write into it.
func (l *token) copied() *authn.AuthConfig {
	config := l.config
	return &config
}

func newRefresher(host string, source Source, now func() time.Time) *refresher {
	return &refresher{host: host, source: source, now: now, turn: make(chan struct{}, 1)}
}

// from takes the next login from another source.
func (r *refresher) from(source Source) {
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
	if known := r.known(); known != nil {
		return known.config, known.err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Temporary, ctx.Err())
	}
	if known := r.known(); known != nil {
		return known.config, known.err
	}
	return r.renew(ctx)
}

// answer is a login, or why there is none.
type answer struct {
	config *authn.AuthConfig
	err    error
}

// known returns the login, or the failure, that is still good; nil: neither is.
func (r *refresher) known() *answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.failure != nil && now.Before(r.again) {
		return &answer{err: r.failure}
	}
	if r.current.number == 0 || !now.Before(r.current.renew) {
		return nil
	}
	return &answer{config: r.current.copied()}
}

// renew asks the source. Whoever calls it has the turn.
func (r *refresher) renew(ctx context.Context) (*authn.AuthConfig, error) {
	bounded, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	r.mu.Lock()
	source := r.source
	r.mu.Unlock()
	username, password, expires, err := source.Login(bounded)
	if err == nil && password.IsZero() {
		err = fault.New(fault.Temporary, "the answer holds no login")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		return r.keep(r.failed(err), ctx.Err() != nil)
	}
	now := r.now()
	r.failure = nil
	r.current = token{
		number: r.current.number + 1,
		config: authn.AuthConfig{Username: username, Password: password.Reveal()},
		renew:  renewAt(now, expires),
		ends:   expires,
	}
	return r.current.copied(), nil
}

// keep goes on with a login that has not run out, or remembers the failure for a
// time. Who went away while asking fails alone.
func (r *refresher) keep(failure error, gone bool) (*authn.AuthConfig, error) {
	now := r.now()
	if gone {
		return nil, failure
	}
	again := now.Add(failedFor)
	if until, ok := fault.RetryAt(failure); ok {
		again = until
	}
	if r.current.number > 0 && now.Before(r.current.ends) {
		r.current.renew = earliest(again, r.current.ends)
		return r.current.copied(), nil
	}
	r.failure, r.again = failure, again
	return nil, failure
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// failed says which login it was about. A failure without a kind is one of the
// network.
func (r *refresher) failed(err error) error {
	kind := fault.KindOf(err)
	if kind == fault.Internal {
		kind = fault.Temporary
	}
	known := &fault.Error{Kind: kind, Err: &refreshError{host: r.host, err: err}}
	known.RetryAt, _ = fault.RetryAt(err)
	return known
}

// refreshError says for which registry there is no login.
type refreshError struct {
	host string
	err  error
}

// Error names the registry and the reason.
func (l *refreshError) Error() string { return "no login for " + l.host + ": " + l.err.Error() }

// Unwrap returns the reason.
func (l *refreshError) Unwrap() error { return l.err }

// renewAt is when a login is to be renewed that runs out at a time.
func renewAt(now, expires time.Time) time.Time {
	life := expires.Sub(now)
	if life <= shortest {
		return now.Add(shortest)
	}
	return expires.Add(-min(earlier, life/4))
}

// number returns the number of the present login; zero: there is none.
func (r *refresher) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current.number
}

// refused says that the registry refused a question that began with login number,
// and whether asking again may help: with a newer login than that one. Without
// one there is a new one only now and then.
func (r *refresher) refused(number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch now := r.now(); {
	case number == 0 || r.failure != nil && now.Before(r.again):
		return false // it was got for this question
	case r.current.number != number:
		return true
	case !r.forced.IsZero() && now.Before(r.forced.Add(refusedFor)):
		return false
	default:
		r.forced, r.current.renew, r.current.ends = now, time.Time{}, time.Time{}
		return true
	}
}
