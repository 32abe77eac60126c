package github

import (
	"context"
	"crypto/rsa"
	"net/http"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// The times of a JSON Web Token, from the present. GitHub refuses one that was
// issued in its future, and one that lives longer than ten minutes from its
// present; both ends leave a minute for clocks that differ.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	issuedBefore = time.Minute
	expiresAfter = 9 * time.Minute
)

// Differences between the clock of this machine and GitHub's.
const (
	smallSkew   = 30 * time.Second // is not worth a word
	largestSkew = 24 * time.Hour   // that is made up for
)

// appSigner makes the JSON Web Tokens of an App. Where GitHub refuses one and its
// clock differs from this machine's, it goes by GitHub's from then on.
type appSigner struct {
	issuer string
	key    *rsa.PrivateKey
	clock  func() time.Time

	mu   sync.Mutex
	skew time.Duration // what GitHub's clock is ahead
}

// now is the present by GitHub's clock, as far as it is known.
func (s *appSigner) now() time.Time { return s.clock().Add(s.offset()) }

func (s *appSigner) offset() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skew
}

// token signs a token for one request.
func (s *appSigner) token(context.Context) (secret.String, error) {
	now := s.now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    s.issuer,
		IssuedAt:  jwt.NewNumericDate(now.Add(-issuedBefore)),
		ExpiresAt: jwt.NewNumericDate(now.Add(expiresAfter)),
	}).SignedString(s.key)
	if err != nil {
		return secret.String{}, fault.New(fault.Internal, "sign a token of the App: %w", err)
	}
	return secret.New(signed), nil
}

// begin implements credential. One token is as good as another.
func (s *appSigner) begin(context.Context) (int, error) { return 0, nil }

// answered implements credential: after a refusal it compares the clocks, and says
// whether another try is worth it.
func (s *appSigner) answered(_ int, answer *http.Response) bool {
	if answer.StatusCode != http.StatusUnauthorized {
		return false
	}
	theirs, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	skew := theirs.Sub(s.clock())
	if (skew-s.skew).Abs() < smallSkew || skew.Abs() > largestSkew {
		return false
	}
	s.skew = skew
	return true
}
