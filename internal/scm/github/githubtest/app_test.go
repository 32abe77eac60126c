package githubtest_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/scm/github/githubtest"
)

// signed returns a token of an App at a time.
func signed(t *testing.T, of, by *githubtest.App, method jwt.SigningMethod, issued, expires time.Time) string {
	t.Helper()
	var key any = []byte("secret")
	if method == jwt.SigningMethodRS256 {
		key = keyOf(t, by)
	}
	text, err := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: strconv.FormatInt(of.ID(), 10), IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func keyOf(t *testing.T, app *githubtest.App) *rsa.PrivateKey {
	t.Helper()
	block, _ := pem.Decode([]byte(app.Key()))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestApp_signatures(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Options{Now: func() time.Time { return now }})
	app, other := s.NewApp("promoter", map[string]string{}), s.NewApp("other", map[string]string{})
	ago, soon := now.Add(-time.Minute), now.Add(9*time.Minute)
	for name, test := range map[string]struct {
		token  string
		status int
		words  string
	}{
		"right":                 {signed(t, app, app, jwt.SigningMethodRS256, ago, soon), 200, `"slug":"promoter"`},
		"another App's key":     {signed(t, app, other, jwt.SigningMethodRS256, ago, soon), 401, "could not be decoded"},
		"another method":        {signed(t, app, app, jwt.SigningMethodHS256, ago, soon), 401, "could not be decoded"},
		"too long":              {signed(t, app, app, jwt.SigningMethodRS256, ago, now.Add(11*time.Minute)), 401, "too far in the future"},
		"over":                  {signed(t, app, app, jwt.SigningMethodRS256, ago, now), 401, "('exp') must be"},
		"issued in the future":  {signed(t, app, app, jwt.SigningMethodRS256, now.Add(time.Second), soon), 401, "('iat') must be"},
		"a token of no account": {"ghp_none", 401, "Bad credentials"},
		"a token of an account": {s.Token("ann", "repo"), 401, "could not be decoded"},
	} {
		if status, text := say(t, s, "GET", "app", test.token, ""); status != test.status || !strings.Contains(text, test.words) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func TestApp_installationTokens(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Options{Now: func() time.Time { return now }})
	in := s.NewRepository("acme/in", map[string]string{"a.yaml": "a: 1\n"})
	s.NewRepository("acme/out", nil)
	app := s.NewApp("promoter", map[string]string{"metadata": "read", "contents": "write", "pull_requests": "read"})
	installed := app.Install("acme", in)
	tokens := fmt.Sprintf("app/installations/%d/access_tokens", installed.ID())
	create := func(body string) (int, string) {
		t.Helper()
		status, text := say(t, s, http.MethodPost, tokens, signed(t, app, app, jwt.SigningMethodRS256, now, now.Add(time.Minute)), body)
		var made struct {
			Token string `json:"token"`
		}
		if status == http.StatusCreated {
			if err := json.Unmarshal([]byte(text), &made); err != nil {
				t.Fatal(err)
			}
			return status, made.Token
		}
		return status, text
	}
	if status, text := create(`{"permissions": {"checks": "read"}}`); status != 422 || !strings.Contains(text, "not granted") {
		t.Errorf("more than was accepted: %d %s", status, text)
	}
	bodies := map[string]string{http.MethodPost: `{"title": "T", "head": "h", "base": "main"}`}
	_, token := create(`{}`)
	_, least := create(`{"permissions": {"metadata": "read"}}`)
	for _, test := range []struct {
		method, path, credential string
		status                   int
		words                    string
	}{
		{"GET", "repos/acme/in", token, 200, `"full_name":"acme/in"`},
		{"GET", "repos/acme/out", token, 404, "Not Found"},
		{"GET", "installation/repositories", token, 200, `"total_count":1`},
		{"GET", "repos/acme/in/contents/a.yaml", token, 200, `"type":"file"`},
		{"GET", "repos/acme/in/contents/a.yaml", least, 403, "Resource not accessible by integration"},
		{"GET", "repos/acme/in/pulls", token, 200, "[]"},
		{"POST", "repos/acme/in/pulls", token, 403, "Resource not accessible by integration"},
		{"GET", "user", token, 403, "Resource not accessible by integration"},
		{"GET", "app", token, 403, "Resource not accessible by integration"},
	} {
		if status, text := say(t, s, test.method, test.path, test.credential, bodies[test.method]); status != test.status || !strings.Contains(text, test.words) {
			t.Errorf("%s %s: %d %.300s", test.method, test.path, status, text)
		}
	}
}
