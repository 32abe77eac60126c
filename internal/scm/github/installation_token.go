package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// suspendedWords are GitHub's about an installation that may do nothing for now.
const suspendedWords = "installation has been suspended"

// renewBefore is how long before its end a token is replaced. A token lives for an
// hour; a session of Git that began with it may need some of the rest.
const renewBefore = 10 * time.Minute

// tokens makes the tokens of one installation, keeps the present one in memory,
// and renews it before it ends.
type tokens struct {
	app *App
	of  Installation

	turn chan struct{} // held by who asks for a token; the others wait for theirs

	mu      sync.Mutex
	token   secret.String
	expires time.Time // by GitHub's clock
	number  int       // grows with each token, and when one is given up
	worked  bool      // the token was accepted once
	refused bool      // it was not, the first time already
	ended   error     // the installation is suspended or gone
}

func newTokens(app *App, of Installation) *tokens {
	return &tokens{app: app, of: of, turn: make(chan struct{}, 1)}
}

// get gives a token that is good for a while.
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
		return token, err // somebody else asked meanwhile
	}
	return t.renew(ctx)
}

// present returns the token at hand, if it is good for long enough.
func (t *tokens) present() (secret.String, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil {
		return secret.String{}, false, t.ended
	}
	return t.token, !t.token.IsZero() && t.app.signer.now().Add(renewBefore).Before(t.expires), nil
}

// renew asks for another token, which may do no more than the table of permissions
// says.
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
		return secret.String{}, fault.New(fault.Temporary, "a token for the installation at %s: the answer holds none, or one that has ended", t.of.Account)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token, t.expires, t.worked, t.refused = secret.New(made.Token), made.Expires, false, false
	t.number++
	return t.token, nil
}

// end remembers that an installation is not to be asked again, and forgets its
// token. Other errors may pass.
func (t *tokens) end(err error) {
	if kind := fault.KindOf(err); kind != fault.Unauthorized && kind != fault.NotFound {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.token = err, secret.String{}
}

// over says that the installation was found to be suspended or gone, or its token to be
// none: what comes after that begins anew.
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

// answered implements credential. A token that worked before and is refused was
// revoked: another one is asked for, once. One that never worked is not replaced,
// because the next would not work either.
func (t *tokens) answered(used int, answer *http.Response) bool {
	suspended := isSuspended(answer)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended != nil:
		return false
	case suspended:
		t.ended, t.token = t.app.suspended(t.of), secret.String{}
		return false
	case answer.StatusCode != http.StatusUnauthorized:
		t.worked = t.worked || used == t.number
		return false
	case used != t.number: // replaced meanwhile
		return true
	case !t.worked:
		t.refused = true
		return false
	}
	t.token, t.worked = secret.String{}, false
	t.number++ // whoever else used it sees that it is none any more
	return true
}

// isSuspended says that the answer refuses because the installation is suspended.
// The body, which is in memory, can be read again.
func isSuspended(answer *http.Response) bool {
	if answer.StatusCode != http.StatusForbidden {
		return false
	}
	data, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(data))
	return err == nil && bytes.Contains(data, []byte(suspendedWords))
}

// post sends one thing that the library has no type for.
func (f *Forge) post(ctx context.Context, path string, body, into any) error {
	req, err := f.api.NewRequest(http.MethodPost, path, body)
	if err != nil {
		return err
	}
	_, err = f.api.Do(ctx, req, into)
	return err
}
