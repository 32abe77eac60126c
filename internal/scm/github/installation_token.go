package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// suspendedWords is GitHub's message about a suspended installation.
const suspendedWords = "installation has been suspended"

// renewBefore is how long before its expiry a token is replaced. A token is valid for
// an hour; a Git session that started with it may need some of the remaining time.
const renewBefore = 10 * time.Minute

// tokens creates the tokens of one installation, keeps the current one in memory, and
// renews it before it expires.
type tokens struct {
	app *App
	of  Installation

	turn chan struct{} // semaphore of the caller that requests a token; others wait

	mu      sync.Mutex
	token   secret.String
	expires time.Time // by GitHub's clock
	made    time.Time // by GitHub's clock
	number  int       // increases with each token, and when one is dropped
	worked  bool      // the token was accepted at least once
	refused bool      // the token was rejected on first use
	ended   error     // the installation is suspended or gone
}

// get returns a token that is valid for a while.
func (t *tokens) get(ctx context.Context) (secret.String, error) {
	if token, ok, err := t.present(); ok || err != nil {
		return token, err
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return secret.String{}, context.Cause(ctx)
	}
	if token, ok, err := t.present(); ok || err != nil {
		return token, err // another goroutine renewed it in the meantime
	}
	return t.renew(ctx)
}

// present returns the current token if it is valid for long enough.
func (t *tokens) present() (secret.String, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil {
		return secret.String{}, false, t.ended
	}
	return t.token, !t.token.IsZero() && t.app.signer.now().Add(renewBefore).Before(t.expires), nil
}

// renew requests another token, limited to the table of permissions.
func (t *tokens) renew(ctx context.Context) (secret.String, error) {
	var made struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	wanted := struct {
		Permissions Permitted `json:"permissions,omitempty"`
	}{t.of.Permitted.least()}
	err := t.app.hub.post(ctx, fmt.Sprintf("app/installations/%d/access_tokens", t.of.ID), wanted, &made)
	if err != nil {
		err = t.app.installationError(t.of, err)
		t.end(err)
		return secret.String{}, err
	}
	if made.Token == "" || !t.app.signer.now().Before(made.Expires) {
		return secret.String{}, fault.New(fault.Temporary,
			"a token for the installation at %s: the answer holds none, or one that has ended", t.of.Account)
	}
	token, born := secret.New(made.Token), t.app.signer.now()
	known, err := t.awaitKnown(ctx, token)
	if err != nil {
		return secret.String{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = token
	t.expires = made.Expires
	t.worked = false
	t.refused = false
	t.made = time.Time{} // no request waits once more
	if known {
		t.made = born
	}
	t.number++
	return t.token, nil
}

// awaitKnown waits until GitHub knows a new token, for 7 seconds at most, and reports whether it does. Until then, requests are
// rejected, and private repositories are not found, over the API and over Git: a repository that is not found would be an error
// that no later request corrects. Other errors say nothing about the token; the first request that uses it reports them.
// https://github.com/akuity/kargo/issues/6630
func (t *tokens) awaitKnown(ctx context.Context, token secret.String) (known bool, err error) {
	probe, err := New(Options{
		URL: t.app.options.URL, API: t.app.options.API, HTTP: t.app.options.HTTP, Now: t.app.signer.now,
		Token: func(context.Context) (secret.String, error) { return token, nil },
	})
	if err != nil {
		return false, err
	}
	for waits := range maxWaits + 1 {
		err := probe.get(ctx, "installation/repositories?per_page=1", nil)
		switch statusOf(err) {
		case http.StatusUnauthorized, http.StatusNotFound:
		default:
			return true, nil
		}
		if waits == maxWaits {
			break
		}
		if err := t.app.options.Sleep(ctx, time.Second<<waits); err != nil {
			return false, err
		}
	}
	return false, nil
}

// end records that no more tokens are to be requested for an installation, and drops
// its token. It ignores errors that may be temporary.
func (t *tokens) end(err error) {
	if kind := fault.KindOf(err); kind != fault.Unauthorized && kind != fault.NotFound {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.token = err, secret.String{}
}

// over reports whether the installation was found to be suspended or removed, or its
// token invalid: the next use needs new tokens.
func (t *tokens) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended != nil || t.refused
}

// begin implements credential.
func (t *tokens) begin(ctx context.Context) (int, error) {
	if _, err := t.get(ctx); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.number, nil
}

// youngToken is how long a token is new. GitHub may reject it until all of its servers
// know it, which takes about a second.
// https://github.com/octokit/auth-app.js/issues/65
const youngToken = 10 * time.Second

// maxWaits is how often a request waits for a new token: 1, 2, and 4 seconds.
const maxWaits = 3

// answered implements credential. A new token that is rejected, or does not find a repository, is used again after a
// wait. One that worked before and is rejected was revoked: another one is requested,
// once. One that never worked is not replaced, because the next would not work either.
func (t *tokens) answered(used, rejected int, answer *http.Response) (wait time.Duration, again bool) {
	suspended := isSuspended(answer)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended != nil:
		return 0, false
	case suspended:
		t.ended, t.token = t.app.suspended(t.of), secret.String{}
		return 0, false
	case used == t.number && rejected < maxWaits && t.young() && isRepositoryNotFound(answer):
		return time.Second << rejected, true
	case answer.StatusCode != http.StatusUnauthorized:
		t.worked = t.worked || used == t.number
		return 0, false
	case used != t.number: // replaced in the meantime
		return 0, true
	case rejected < maxWaits && t.young():
		return time.Second << rejected, true
	case !t.worked:
		t.refused = true
		return 0, false
	}
	t.token, t.worked = secret.String{}, false
	t.number++ // invalidates it for concurrent users
	return 0, true
}

// young reports whether GitHub may not know the token everywhere. The lock is held.
func (t *tokens) young() bool { return t.app.signer.now().Sub(t.made) < youngToken }

// isRepositoryNotFound reports whether a response is that a repository is not there: GitHub's answer to a token that it does
// not know yet, if the repository is private. What is inside of a repository may be missing for other reasons.
func isRepositoryNotFound(answer *http.Response) bool {
	if answer.StatusCode != http.StatusNotFound || answer.Request == nil {
		return false
	}
	parts := strings.Split(strings.Trim(answer.Request.URL.Path, "/"), "/")
	last := len(parts) - 3
	return last >= 0 && parts[last] == "repos"
}

// isSuspended reports whether a response is a rejection because the installation is
// suspended. The body, which is in memory, can be read again.
func isSuspended(answer *http.Response) bool {
	if answer.StatusCode != http.StatusForbidden {
		return false
	}
	data, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(data))
	return err == nil && bytes.Contains(data, []byte(suspendedWords))
}

// post sends an object for which the library has no type.
func (f *Forge) post(ctx context.Context, path string, body, into any) error {
	_, err := f.call(ctx, http.MethodPost, path, body, into)
	return err
}
