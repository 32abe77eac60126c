package webhook_test

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/fault"
)

const (
	audience = "https://promoter.example.com/webhooks/gar"
	pusher   = "promoter@acme.iam.gserviceaccount.com"
)

func TestGoogle_verifiesIdentityTokens(t *testing.T) {
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
		{"of another audience", "Bearer " + g.token(t, "one", key, rs, g.claims("aud", "https://other.example.com")), fault.Unauthorized},
		{"of another issuer", "Bearer " + g.token(t, "one", key, rs, g.claims("iss", "https://accounts.example.com")), fault.Unauthorized},
		{"of another account", "Bearer " + g.token(t, "one", key, rs, g.claims("email", "eve@acme.iam.gserviceaccount.com")), fault.Unauthorized},
		{"without an account", "Bearer " + g.token(t, "one", key, rs, g.claims("email", "")), fault.Unauthorized},
		{"unverified", "Bearer " + g.token(t, "one", key, rs, unverified), fault.Unauthorized},
		{"expired", "Bearer " + g.token(t, "one", key, rs, expired), fault.Unauthorized},
		{"not valid yet", "Bearer " + g.token(t, "one", key, rs, early), fault.Unauthorized},
		{"signed by a stranger", "Bearer " + g.token(t, "one", stranger, rs, g.claims()), fault.Unauthorized},
		{"without a signature", "Bearer " + g.token(t, "one", jwt.UnsafeAllowNoneSignatureType, jwt.SigningMethodNone, g.claims()), fault.Unauthorized},
		{"signed with the public key as a secret", "Bearer " + g.token(t, "one", pem, jwt.SigningMethodHS256, g.claims()), fault.Unauthorized},
		{"of another algorithm", "Bearer " + g.token(t, "one", key, jwt.SigningMethodRS512, g.claims()), fault.Unauthorized},
		{"without Bearer", g.token(t, "one", key, rs, g.claims()), fault.Unauthorized},
		{"no token", "Bearer x.y.z", fault.Unauthorized},
		{"a large one", "Bearer " + strings.Repeat("a", 9<<10), fault.Unauthorized},
		{"none", "", fault.Unauthorized},
	} {
		if got := received(t.Context(), g.receiver(t), test.authorization); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A token ends by our clock, and keys are asked for once.
func TestGoogle_refusesExpiredTokens(t *testing.T) {
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
	if got := received(t.Context(), r, token); got != fault.Unauthorized {
		t.Errorf("an hour later: %v", got)
	}
	if g.asked != 1 {
		t.Errorf("asked for keys %d times", g.asked)
	}
}

// A new key is fetched when a token comes that is signed with it. Unknown keys do not
// have Google asked each time.
func TestGoogle_fetchesRotatedKeys(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	rs := jwt.SigningMethodRS256
	first := "Bearer " + g.token(t, "one", g.keys["one"], rs, g.claims())
	two := newKey(t)
	second := "Bearer " + g.token(t, "two", two, rs, g.claims())
	stranger := "Bearer " + g.token(t, "three", newKey(t), rs, g.claims())
	synctest.Test(t, func(t *testing.T) {
		r := g.receiver(t)
		expect := func(what, token string, want fault.Kind, asked int) {
			t.Helper()
			got := received(t.Context(), r, token)
			synctest.Wait() // the library ends a question after its answer
			if got != want || g.asked != asked {
				t.Errorf("%s: %v after %d questions, want %v after %d", what, got, g.asked, want, asked)
			}
		}
		expect("the first key", first, fault.Invalid, 1)
		g.keys["two"] = two
		for range 100 {
			expect("an unknown key", stranger, fault.Unauthorized, 1)
		}
		g.pass(11 * time.Second)
		expect("the second key", second, fault.Invalid, 2)
		delete(g.keys, "one")
		expect("the second key again", second, fault.Invalid, 2)
	})
}

// Where the keys cannot be had, nothing is proven; what is known goes on.
func TestGoogle_refusesWithoutKeys(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	keys, err := g.shown()
	if err != nil {
		t.Fatal(err)
	}
	key := g.keys["one"]
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"down":    func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to the host") },
		"error":   func(*http.Request) (*http.Response, error) { return answered(http.StatusBadGateway, "no"), nil },
		"garbage": func(*http.Request) (*http.Response, error) { return answered(http.StatusOK, "<html>"), nil },
		"huge": func(*http.Request) (*http.Response, error) {
			return answered(http.StatusOK, strings.Repeat(" ", 300<<10)+keys), nil
		},
	} {
		g := &google{keys: map[string]*rsa.PrivateKey{"one": key}, now: g.now}
		token := "Bearer " + g.token(t, "one", g.keys["one"], jwt.SigningMethodRS256, g.claims())
		synctest.Test(t, func(t *testing.T) {
			r := g.receiver(t)
			expect := func(what string, want fault.Kind, asked int) {
				t.Helper()
				got := received(t.Context(), r, token)
				synctest.Wait() // the library ends a question after its answer
				if got != want || g.asked != asked {
					t.Errorf("%s, %s: %v after %d questions, want %v after %d", name, what, got, g.asked, want, asked)
				}
			}
			g.answer = answer
			expect("at first", fault.Unauthorized, 1)
			g.answer = nil
			expect("and back at once", fault.Unauthorized, 1)
			g.pass(11 * time.Second)
			expect("and back", fault.Invalid, 2)
			g.answer = answer
			expect("again, with the key known", fault.Invalid, 2)
		})
	}
}

// An endpoint that does not answer holds a request for ten seconds, those with a known
// key not at all, and nothing for ever.
func TestGoogle_limitsTheWaitForKeys(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	known := "Bearer " + g.token(t, "one", g.keys["one"], jwt.SigningMethodRS256, g.claims())
	unknown := "Bearer " + g.token(t, "two", newKey(t), jwt.SigningMethodRS256, g.claims())
	synctest.Test(t, func(t *testing.T) {
		r, began := g.receiver(t), time.Now()
		if got := received(t.Context(), r, known); got != fault.Invalid {
			t.Fatalf("before: %v", got)
		}
		synctest.Wait() // the library ends a question after its answer
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
		if got := received(gone, r, unknown); got != fault.Unauthorized || time.Since(began) > 0 {
			t.Errorf("a sender that went away: %v after %v", got, time.Since(began))
		}
		if got := <-kinds; got != fault.Unauthorized || time.Since(began) != 10*time.Second {
			t.Errorf("with an unknown key: %v after %v", got, time.Since(began))
		}
	})
}
