package registry

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/secret"
)

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: day(1)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// issuer is a token service whose logins are login-1, login-2 and so on.
type issuer struct {
	now   func() time.Time
	life  time.Duration
	fails atomic.Pointer[error]
	asked atomic.Int64
	slow  func(ctx context.Context) error // nil: at once
}

func (i *issuer) Login(ctx context.Context) (string, secret.String, time.Time, error) {
	n := i.asked.Add(1)
	if i.slow != nil {
		if err := i.slow(ctx); err != nil {
			return "", secret.String{}, time.Time{}, err
		}
	}
	if failure := i.fails.Load(); failure != nil {
		return "", secret.String{}, time.Time{}, *failure
	}
	return "AWS", secret.New(fmt.Sprintf("login-%d", n)), i.now().Add(i.life), nil
}

func (i *issuer) fail(err error) { i.fails.Store(&err) }

// leased is a registry that takes one login at a time.
type leased struct {
	*fake
	issuer *issuer
	clock  *clock
	takes  atomic.Value // string
	status int          // of a refusal
}

func newLeased(t *testing.T, life time.Duration, status int) *leased {
	t.Helper()
	c := newClock()
	l := &leased{fake: newFake(t), clock: c, status: status, issuer: &issuer{now: c.now, life: life}}
	l.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	l.reset()
	l.takes.Store("login-1")
	l.answer = l.guard
	return l
}

func (l *leased) guard(w http.ResponseWriter, r *http.Request) bool {
	if _, password, _ := r.BasicAuth(); r.URL.Path != "/v2/" && password == l.takes.Load() {
		return false
	}
	if r.URL.Path == "/v2/" {
		w.Header().Set("WWW-Authenticate", `Basic realm="acme"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	w.WriteHeader(l.status)
	_, _ = fmt.Fprint(w, `{"errors":[{"code":"DENIED","message":"Your authorization token has expired. Reauthenticate and try again."}]}`)
	return true
}

func (l *leased) client(t *testing.T) *Client {
	t.Helper()
	return newClient(t, Options{Now: l.clock.now, Credentials: []Credential{
		{Host: l.host, UsableBy: []string{"**"}, Source: l.issuer, Identity: "the issuer"},
	}})
}

// resolve asks for the tag in a pass of its own.
func (l *leased) resolve(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.For("a/1").Resolve(t.Context(), image.Reference{Repository: l.repository(t, "acme/web"), Tag: "1.0.0"})
	return err
}

func TestRefresher_refreshesShortlyBeforeExpiry(t *testing.T) {
	t.Parallel()
	l := newLeased(t, 12*time.Hour, 403)
	c := l.client(t)
	for _, step := range []struct {
		forward time.Duration
		asked   int64
	}{
		{0, 1},
		{11 * time.Hour, 1},
		{54 * time.Minute, 1},
		{time.Minute, 2}, // five minutes before the end
		{11 * time.Hour, 2},
		{20 * time.Hour, 3}, // long after it
	} {
		l.clock.forward(step.forward)
		l.takes.Store(fmt.Sprintf("login-%d", step.asked))
		if err := l.resolve(t, c); err != nil {
			t.Fatal(err)
		}
		if got := l.issuer.asked.Load(); got != step.asked {
			t.Errorf("at %s: asked for %d logins, want %d", l.clock.now(), got, step.asked)
		}
	}
}

func TestRefreshAt(t *testing.T) {
	t.Parallel()
	for life, want := range map[time.Duration]time.Duration{
		12 * time.Hour:   12*time.Hour - 5*time.Minute,
		8 * time.Minute:  6 * time.Minute,
		30 * time.Second: time.Minute,
		-time.Hour:       time.Minute, // a clock is wrong
	} {
		if got := refreshAt(day(1), day(1).Add(life)).Sub(day(1)); got != want {
			t.Errorf("a login for %s is renewed after %s, want %s", life, got, want)
		}
	}
}

func TestRefresher_replacesRefusedLoginOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			l := newLeased(t, 12*time.Hour, status)
			c := l.client(t)
			if err := l.resolve(t, c); err != nil {
				t.Fatal(err)
			}
			l.takes.Store("login-2") // revoked: what it was got with has a new secret
			if err := l.resolve(t, c); err != nil || l.issuer.asked.Load() != 2 {
				t.Errorf("err = %v after %d logins, want a new one", err, l.issuer.asked.Load())
			}
			l.takes.Store("nothing")
			for range 3 {
				if err := l.resolve(t, c); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "rights of its identity") {
					t.Errorf("err = %v", err)
				}
			}
			if got := l.issuer.asked.Load(); got != 2 {
				t.Errorf("%d logins: a right that is missing costs one for each question", got)
			}
			l.clock.forward(refusalFor)
			l.takes.Store("login-3")
			if err := l.resolve(t, c); err != nil {
				t.Errorf("later: %v", err)
			}
		})
	}
}

func TestRefresher_doesNotReplaceRefusedFirstLogin(t *testing.T) {
	t.Parallel()
	l := newLeased(t, time.Hour, 401)
	l.takes.Store("nothing")
	if err := l.resolve(t, l.client(t)); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("err = %v", err)
	}
	if got := l.issuer.asked.Load(); got != 1 {
		t.Errorf("asked for %d logins", got)
	}
}

func TestRefresher_sharesOneLoginAmongCallers(t *testing.T) {
	t.Parallel()
	c := newClock()
	entered, leave := make(chan struct{}), make(chan struct{})
	source := &issuer{now: c.now, life: time.Hour, slow: func(context.Context) error {
		close(entered) // a second one would panic
		<-leave
		return nil
	}}
	r := newRefresher("r.example.com", source, c.now)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if config, err := r.AuthorizationContext(t.Context()); err != nil || config.Password != "login-1" {
				t.Errorf("got %+v, %v", config, err)
			}
		})
	}
	<-entered
	close(leave)
	group.Wait()
}

func TestRefresher_canceledCallerFailsAlone(t *testing.T) {
	t.Parallel()
	c := newClock()
	ctx, cancel := context.WithCancel(t.Context())
	source := &issuer{now: c.now, life: time.Hour}
	source.slow = func(ctx context.Context) error {
		if source.asked.Load() > 1 {
			return nil
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	r := newRefresher("r.example.com", source, c.now)
	if _, err := r.AuthorizationContext(ctx); fault.KindOf(err) != fault.Temporary {
		t.Errorf("err = %v", err)
	}
	if config, err := r.AuthorizationContext(t.Context()); err != nil || config.Password != "login-2" {
		t.Errorf("the next one got %+v, %v", config, err)
	}
}

func TestRefresher_boundsLoginTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &issuer{now: time.Now, slow: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		r := newRefresher("r.example.com", source, time.Now)
		begun := time.Now()
		_, err := r.Authorization()
		if fault.KindOf(err) != fault.Temporary || time.Since(begun) != loginTimeout {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		if _, again := r.Authorization(); again == nil || time.Since(begun) != loginTimeout {
			t.Errorf("the next question waited too: %s, %v", time.Since(begun), again)
		}
	})
}

func TestRefresher_failureAffectsOnlyItsRegistry(t *testing.T) {
	t.Parallel()
	l, other := newLeased(t, time.Hour, 401), newFake(t)
	other.push(t, "acme/api", built{created: day(1)}, "1.0.0")
	l.issuer.fail(fault.New(fault.Unauthorized, "the role r may not ask for a login: give it the right"))
	pass := l.client(t).Batch().For("a/1")
	for range 3 {
		_, err := pass.Resolve(t.Context(), image.Reference{Repository: l.repository(t, "acme/web"), Tag: "1.0.0"})
		if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "no login for "+l.host+": the role r may not") {
			t.Errorf("err = %v", err)
		}
	}
	if _, err := pass.Resolve(t.Context(), image.Reference{Repository: other.repository(t, "acme/api"), Tag: "1.0.0"}); err != nil {
		t.Errorf("another registry: %v", err)
	}
	if l.sent() || l.issuer.asked.Load() != 1 {
		t.Errorf("asked %d times, sent %q", l.issuer.asked.Load(), l.auths)
	}
}

func TestRefresher_retriesAfterFailure(t *testing.T) {
	t.Parallel()
	l := newLeased(t, time.Hour, 401)
	c := l.client(t)
	l.issuer.fail(fault.New(fault.Temporary, "down"))
	for range 2 {
		if err := l.resolve(t, c); fault.KindOf(err) != fault.Temporary {
			t.Errorf("err = %v", err)
		}
	}
	l.issuer.fails.Store(nil)
	l.clock.forward(failureFor)
	l.takes.Store("login-2")
	if err := l.resolve(t, c); err != nil {
		t.Error(err)
	}
	l.issuer.fail(fault.Limited(l.clock.now().Add(3*time.Hour), fault.New(fault.RateLimited, "limited")))
	l.clock.forward(58 * time.Minute)
	if err := l.resolve(t, c); err != nil {
		t.Errorf("a login that has not run out is used while there is no newer one: %v", err)
	}
	l.clock.forward(time.Hour)
	if err := l.resolve(t, c); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("err = %v", err)
	}
}

func TestRefresher_refusesEmptyLogin(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := newRefresher("r.example.com", emptySource{}, c.now)
	if _, err := r.Authorization(); fault.KindOf(err) != fault.Temporary {
		t.Errorf("err = %v", err)
	}
}

type emptySource struct{}

func (emptySource) Login(context.Context) (string, secret.String, time.Time, error) {
	return "AWS", secret.String{}, time.Time{}, nil
}

func TestRefresher_cacheIsKeptPerIdentity(t *testing.T) {
	t.Parallel()
	c := newClock()
	id := func(identity string, source Source) string {
		entries, err := newEntries([]Credential{{Host: "r.example.com", UsableBy: []string{"**"}, Source: source, Identity: identity}}, NewLogins(), c.now)
		if err != nil {
			t.Fatal(err)
		}
		return entries[0].id
	}
	one, two := &issuer{now: c.now}, &issuer{now: c.now}
	if id("aws", one) != id("aws", two) {
		t.Error("the same identity has another name with another login")
	}
	if id("aws", one) == id("aws role b", one) || id("aws", one) == id("", nil) {
		t.Error("two identities have one name")
	}
}

// A round of work has a client of its own; a login lives longer.
func TestLogins_outliveClient(t *testing.T) {
	t.Parallel()
	l, logins := newLeased(t, 12*time.Hour, 403), NewLogins()
	client := func(source Source, usableBy ...string) *Client {
		return newClient(t, Options{Now: l.clock.now, Logins: logins, Credentials: []Credential{
			{Host: l.host, UsableBy: usableBy, Source: source, Identity: "the issuer"},
		}})
	}
	for range 3 {
		if err := l.resolve(t, client(l.issuer, "**")); err != nil {
			t.Fatal(err)
		}
		l.clock.forward(5 * time.Minute)
	}
	if got := l.issuer.asked.Load(); got != 1 {
		t.Errorf("three clients asked for %d logins, want one", got)
	}
	newer := &issuer{now: l.clock.now, life: time.Hour}
	l.clock.forward(12 * time.Hour)
	if err := l.resolve(t, client(newer, "**")); err != nil || newer.asked.Load() != 1 || l.issuer.asked.Load() != 1 {
		t.Errorf("the next login did not come from the newest source: %v", err)
	}
	if err := l.resolve(t, client(&issuer{now: l.clock.now, life: time.Hour}, "a/*")); err != nil || len(logins.refreshers) != 1 {
		t.Errorf("an entry that others may use: %d are kept, %v", len(logins.refreshers), err)
	}
}

// Amazon's public registry answers 400 to a token that ran out and does not say
// how to log in.
func TestSend_replacesTokenAfterBadRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	var good atomic.Int64
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		token := fmt.Sprintf("token-%d", good.Load())
		switch {
		case r.URL.Path == "/token":
			_, _ = fmt.Fprintf(w, `{"token":%q}`, token)
		case r.URL.Path == "/v2/":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="acme"`, f.host))
			w.WriteHeader(http.StatusUnauthorized)
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusBadRequest)
		default:
			return false
		}
		return true
	}
	v := newClient(t, Options{})
	for range 2 {
		mustSelect(t, v.For("a/1"), webRequest(t, f))
		good.Add(1)
	}
}
