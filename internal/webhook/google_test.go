package webhook_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/fault"
	"promoter/internal/webhook"
)

const (
	audience = "https://promoter.example.com/webhooks/gar"
	pusher   = "promoter@acme.iam.gserviceaccount.com"
)

// google is the endpoint of Google's keys, and who signs with them.
type google struct {
	mu     sync.Mutex
	keys   map[string]*rsa.PrivateKey // those that it shows
	asked  int
	answer func(*http.Request) (*http.Response, error) // nil: the keys
	now    time.Time
}

func newGoogle(t testing.TB) *google {
	t.Helper()
	g := &google{keys: map[string]*rsa.PrivateKey{}, now: time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)}
	g.keys["one"] = newKey(t)
	return g
}

func newKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (g *google) Now() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

func (g *google) pass(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

// RoundTrip answers with the keys.
func (g *google) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	if r.URL.String() != "https://www.googleapis.com/oauth2/v3/certs" {
		return nil, errors.New("asked for " + r.URL.String())
	}
	if answer := g.answer; answer != nil {
		g.mu.Unlock()
		defer g.mu.Lock()
		return answer(r)
	}
	var set struct {
		Keys []map[string]string `json:"keys"`
	}
	for id, key := range g.keys {
		set.Keys = append(set.Keys, map[string]string{
			"kid": id, "kty": "RSA", "alg": "RS256", "use": "sig",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		})
	}
	data, err := json.Marshal(set)
	return answered(http.StatusOK, string(data)), err
}

func answered(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

func (g *google) receiver(t testing.TB) *webhook.Receiver {
	t.Helper()
	made, err := webhook.New(webhook.Options{
		Name: "gar", Kind: "gar", Audience: audience, Email: pusher, HTTP: &http.Client{Transport: g}, Now: g.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// claims are those that Pub/Sub sends, changed by a test.
func (g *google) claims(changes ...string) jwt.MapClaims {
	claims := jwt.MapClaims{
		"iss": "https://accounts.google.com", "aud": audience, "azp": "113774264463038321964", "sub": "113774264463038321964",
		"email": pusher, "email_verified": true, "iat": g.Now().Unix(), "exp": g.Now().Add(time.Hour).Unix(),
	}
	for i := 0; i+1 < len(changes); i += 2 {
		claims[changes[i]] = changes[i+1]
	}
	return claims
}

func (g *google) token(t testing.TB, id string, key any, method jwt.SigningMethod, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = id
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// received is the kind of the error that a pushed message gets with a token.
func received(ctx context.Context, r *webhook.Receiver, authorization string) fault.Kind {
	_, err := r.Receive(ctx, webhook.Request{Header: http.Header{"Authorization": {authorization}}, Body: []byte("{")})
	return fault.KindOf(err) // Invalid: proven, and no message
}

func TestGoogle_W07_tokens(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	key, stranger := g.keys["one"], newKey(t)
	unverified, expired, early := g.claims(), g.claims(), g.claims()
	unverified["email_verified"] = false
	expired["exp"] = g.Now().Add(-time.Second).Unix()
	early["nbf"] = g.Now().Add(time.Hour).Unix()
	pem := []byte(base64.RawURLEncoding.EncodeToString(key.N.Bytes()))
	rs := jwt.SigningMethodRS256
	for _, test := range []struct {
		name, authorization string
		want                fault.Kind
	}{
		{"the right one", "Bearer " + g.token(t, "one", key, rs, g.claims()), fault.Invalid},
		{"of the issuer without a scheme", "Bearer " + g.token(t, "one", key, rs, g.claims("iss", "accounts.google.com")), fault.Invalid},
		{"of another audience", "Bearer " + g.token(t, "one", key, rs, g.claims("aud", "https://other.example.com")), fault.Unauthorised},
		{"of another issuer", "Bearer " + g.token(t, "one", key, rs, g.claims("iss", "https://accounts.example.com")), fault.Unauthorised},
		{"of another account", "Bearer " + g.token(t, "one", key, rs, g.claims("email", "eve@acme.iam.gserviceaccount.com")), fault.Unauthorised},
		{"without an account", "Bearer " + g.token(t, "one", key, rs, g.claims("email", "")), fault.Unauthorised},
		{"unverified", "Bearer " + g.token(t, "one", key, rs, unverified), fault.Unauthorised},
		{"expired", "Bearer " + g.token(t, "one", key, rs, expired), fault.Unauthorised},
		{"not valid yet", "Bearer " + g.token(t, "one", key, rs, early), fault.Unauthorised},
		{"signed by a stranger", "Bearer " + g.token(t, "one", stranger, rs, g.claims()), fault.Unauthorised},
		{"without a signature", "Bearer " + g.token(t, "one", jwt.UnsafeAllowNoneSignatureType, jwt.SigningMethodNone, g.claims()), fault.Unauthorised},
		{"signed with the public key as a secret", "Bearer " + g.token(t, "one", pem, jwt.SigningMethodHS256, g.claims()), fault.Unauthorised},
		{"of another algorithm", "Bearer " + g.token(t, "one", key, jwt.SigningMethodRS512, g.claims()), fault.Unauthorised},
		{"without Bearer", g.token(t, "one", key, rs, g.claims()), fault.Unauthorised},
		{"no token", "Bearer x.y.z", fault.Unauthorised},
		{"a large one", "Bearer " + strings.Repeat("a", 9<<10), fault.Unauthorised},
		{"none", "", fault.Unauthorised},
	} {
		if got := received(t.Context(), g.receiver(t), test.authorization); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A token ends by our clock, and keys are asked for once.
func TestGoogle_W07_expires(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	r := g.receiver(t)
	token := "Bearer " + g.token(t, "one", g.keys["one"], jwt.SigningMethodRS256, g.claims())
	for range 3 {
		if got := received(t.Context(), r, token); got != fault.Invalid {
			t.Fatalf("in time: %v", got)
		}
	}
	g.pass(time.Hour + time.Second)
	if got := received(t.Context(), r, token); got != fault.Unauthorised {
		t.Errorf("an hour later: %v", got)
	}
	if g.asked != 1 {
		t.Errorf("asked for keys %d times", g.asked)
	}
}

// A new key is fetched when a token comes that is signed with it. Unknown keys do not
// have Google asked each time.
func TestGoogle_W07_rotation(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	r, rs := g.receiver(t), jwt.SigningMethodRS256
	if got := received(t.Context(), r, "Bearer "+g.token(t, "one", g.keys["one"], rs, g.claims())); got != fault.Invalid {
		t.Fatalf("the first key: %v", got)
	}
	g.keys["two"] = newKey(t)
	second := "Bearer " + g.token(t, "two", g.keys["two"], rs, g.claims())
	stranger := "Bearer " + g.token(t, "three", newKey(t), rs, g.claims())
	for range 100 {
		if got := received(t.Context(), r, stranger); got != fault.Unauthorised {
			t.Fatalf("an unknown key: %v", got)
		}
	}
	if g.asked != 1 {
		t.Errorf("asked for keys %d times in no time", g.asked)
	}
	g.pass(11 * time.Second)
	if got := received(t.Context(), r, second); got != fault.Invalid || g.asked != 2 {
		t.Errorf("the second key: %v after %d questions", got, g.asked)
	}
	delete(g.keys, "one")
	if got := received(t.Context(), r, "Bearer "+g.token(t, "two", g.keys["two"], rs, g.claims())); got != fault.Invalid || g.asked != 2 {
		t.Errorf("the second key again: %v after %d questions", got, g.asked)
	}
}

// Where the keys cannot be had, nothing is proven; what is known goes on.
func TestGoogle_W07_keysFail(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"down":    func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to the host") },
		"error":   func(*http.Request) (*http.Response, error) { return answered(http.StatusBadGateway, "no"), nil },
		"garbage": func(*http.Request) (*http.Response, error) { return answered(http.StatusOK, "<html>"), nil },
		"huge": func(*http.Request) (*http.Response, error) {
			return answered(http.StatusOK, `{"keys": [`+strings.Repeat(" ", 300<<10)+`]}`), nil
		},
	} {
		g := newGoogle(t)
		r := g.receiver(t)
		g.answer = answer
		token := "Bearer " + g.token(t, "one", g.keys["one"], jwt.SigningMethodRS256, g.claims())
		if got := received(t.Context(), r, token); got != fault.Unauthorised {
			t.Errorf("%s: %v", name, got)
		}
		g.answer = nil
		g.pass(11 * time.Second)
		if got := received(t.Context(), r, token); got != fault.Invalid {
			t.Errorf("%s, and back: %v", name, got)
		}
		g.answer = answer
		if got := received(t.Context(), r, token); got != fault.Invalid {
			t.Errorf("%s again, with the key known: %v", name, got)
		}
	}
}

// An endpoint that does not answer holds a request for ten seconds, those with a known
// key not at all, and nothing for ever.
func TestGoogle_W07_keysHang(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	known := "Bearer " + g.token(t, "one", g.keys["one"], jwt.SigningMethodRS256, g.claims())
	unknown := "Bearer " + g.token(t, "two", newKey(t), jwt.SigningMethodRS256, g.claims())
	synctest.Test(t, func(t *testing.T) {
		r, began := g.receiver(t), time.Now()
		if got := received(t.Context(), r, known); got != fault.Invalid {
			t.Fatalf("before: %v", got)
		}
		g.pass(time.Minute)
		g.answer = func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		kinds := make(chan fault.Kind, 1)
		go func() { kinds <- received(t.Context(), r, unknown) }()
		synctest.Wait()
		if got := received(t.Context(), r, known); got != fault.Invalid || time.Since(began) > 0 {
			t.Errorf("with a known key meanwhile: %v after %v", got, time.Since(began))
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if got := received(gone, r, unknown); got != fault.Unauthorised || time.Since(began) > 0 {
			t.Errorf("a sender that went away: %v after %v", got, time.Since(began))
		}
		if got := <-kinds; got != fault.Unauthorised || time.Since(began) != 10*time.Second {
			t.Errorf("with an unknown key: %v after %v", got, time.Since(began))
		}
	})
}
