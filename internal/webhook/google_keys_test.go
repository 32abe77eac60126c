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
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/fault"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
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
	data, err := g.shown()
	return answered(http.StatusOK, data), err
}

// shown are the keys, as Google writes them.
func (g *google) shown() (string, error) {
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
	return string(data), err
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
		Name: "gar", Kind: "gar", Credential: credential.Options{Audience: audience, Email: pusher, HTTP: &http.Client{Transport: g}, Now: g.Now},
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
