package github

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Times of a JSON Web Token, relative to the current time. GitHub rejects one that
// was issued in the future, or that expires more than ten minutes from now; both ends
// leave a minute for clock skew.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	issuedBefore = time.Minute
	expiresAfter = 9 * time.Minute
)

// Clock skew between this machine and GitHub.
const (
	smallSkew   = 30 * time.Second // not worth reporting
	largestSkew = 24 * time.Hour   // maximum that is compensated
)

// appSigner creates the JSON Web Tokens of an App. If GitHub rejects one and its
// clock differs from this machine's, it uses GitHub's clock from then on.
type appSigner struct {
	issuer string
	secret secret.String
	key    *secret.Derived[*rsa.PrivateKey]
	clock  func() time.Time

	mu   sync.Mutex
	skew time.Duration // how far GitHub's clock is ahead
	used string        // the text of the key that signed last
}

// now returns the current time by GitHub's clock, if known.
func (s *appSigner) now() time.Time { return s.clock().Add(s.offset()) }

func (s *appSigner) offset() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skew
}

// token signs a token for one request.
func (s *appSigner) token(context.Context) (secret.String, error) {
	now := s.now()
	s.mu.Lock()
	s.used = s.secret.Reveal()
	s.mu.Unlock()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    s.issuer,
		IssuedAt:  jwt.NewNumericDate(now.Add(-issuedBefore)),
		ExpiresAt: jwt.NewNumericDate(now.Add(expiresAfter)),
	}).SignedString(s.key.Value())
	if err != nil {
		return secret.String{}, fault.New(fault.Internal, "sign a token of the App: %w", err)
	}
	return secret.New(signed), nil
}

// begin implements credential. All tokens are equivalent.
func (s *appSigner) begin(context.Context) (int, error) { return 0, nil }

// answered implements credential: after a rejection it reads the key again, compares the
// clocks, and reports whether to retry.
func (s *appSigner) answered(_, rejected int, answer *http.Response) (wait time.Duration, again bool) {
	if answer.StatusCode != http.StatusUnauthorized || rejected > 0 {
		return 0, false
	}
	s.mu.Lock()
	used := s.used
	s.mu.Unlock()
	if s.secret.Renewed(used) {
		return 0, true
	}
	theirs, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	skew := theirs.Sub(s.clock())
	if (skew-s.skew).Abs() < smallSkew || skew.Abs() > largestSkew {
		return 0, false
	}
	s.skew = skew
	return 0, true
}

// CheckKey returns an error unless a text is the private key of an App.
func CheckKey(text secret.String) error {
	_, err := parseKey(text)
	return err
}

// minKeyBits is the minimum key size. GitHub creates keys of 2048 bits.
const minKeyBits = 2048

// parseKey parses the private key of an App: PEM with PKCS#1, as GitHub provides it,
// or with PKCS#8, to which other tools convert it. No error contains any part of it.
func parseKey(text secret.String) (*rsa.PrivateKey, error) {
	if text.IsZero() {
		return nil, fault.New(fault.Invalid, "the private key is empty")
	}
	block, _ := pem.Decode([]byte(text.Reveal()))
	if block == nil {
		return nil, fault.New(fault.Invalid,
			"the private key is no PEM: it is the file that GitHub gave for download, which begins with -----BEGIN RSA PRIVATE KEY-----")
	}
	key, err := parseBlock(block)
	if err != nil {
		return nil, err
	}
	if err := key.Validate(); err != nil || key.N.BitLen() < minKeyBits {
		return nil, fault.New(fault.Invalid,
			"the private key is damaged, or shorter than %d bits: make a new one on the App's page", minKeyBits)
	}
	return key, nil
}

func parseBlock(block *pem.Block) (*rsa.PrivateKey, error) {
	switch block.Type {
	case "RSA PRIVATE KEY":
		if block.Headers["DEK-Info"] != "" {
			return nil, fault.New(fault.Invalid, "the private key is encrypted: decrypt it with 'openssl rsa'")
		}
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
	case "PRIVATE KEY":
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		key, isRSA := parsed.(*rsa.PrivateKey)
		if err == nil && isRSA {
			return key, nil
		}
		if err == nil {
			return nil, fault.New(fault.Invalid, "the private key is no RSA key, which GitHub wants")
		}
	case "ENCRYPTED PRIVATE KEY":
		return nil, fault.New(fault.Invalid, "the private key is encrypted: decrypt it with 'openssl pkcs8'")
	default:
		return nil, fault.New(fault.Invalid, "the PEM holds no private key: give the file that GitHub gave for download")
	}
	return nil, fault.New(fault.Invalid, "the private key is damaged: download a new one from the App's page")
}
