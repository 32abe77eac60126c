package google

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"time"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// tokenService is where a service account gets its tokens. A key file names it too;
// no other is believed, because an assertion goes there.
const tokenService = "https://oauth2.googleapis.com/token"

// accountKey is the file of a service account.
type accountKey struct {
	Email string `json:"client_email"`
	ID    string `json:"private_key_id"`
	Key   string `json:"private_key"` // PEM
}

// serviceAccount asks with an assertion that the account's key signs.
// https://developers.google.com/identity/protocols/oauth2/service-account#httprest
func (s *Source) serviceAccount(ctx context.Context, file secret.String) (token, error) {
	const what = "Google service account"
	var key accountKey
	if json.Unmarshal([]byte(file.Reveal()), &key) != nil || key.Email == "" {
		return token{}, fault.New(fault.Invalid, "%s: the key file has no client_email", what)
	}
	private, err := parseKey(key.Key)
	if err != nil {
		return token{}, err
	}
	assertion, err := assert(key, private, s.machine.Now())
	if err != nil {
		return token{}, err
	}
	answer, err := s.machine.Ask(ctx, auth.Form(what, "see whether the key of "+key.Email+" was deleted or the account disabled, and whether the clock of this machine is right", tokenService, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion},
	}))
	if err != nil {
		return token{}, err
	}
	return s.readToken(what, answer)
}

// parseKey reads the private key, in PKCS #8 or the older PKCS #1.
func parseKey(text string) (*rsa.PrivateKey, error) {
	bad := fault.New(fault.Invalid, "Google service account: the private key of the file is not understood")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, bad
	}
	if old, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return old, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if key, ok := parsed.(*rsa.PrivateKey); err == nil && ok {
		return key, nil
	}
	return nil, bad
}

// assert makes the signed assertion (RFC 7515, RFC 7523), good for an hour.
func assert(key accountKey, private *rsa.PrivateKey, now time.Time) (string, error) {
	head, headErr := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": key.ID})
	claims, claimsErr := json.Marshal(map[string]any{
		"iss": key.Email, "aud": tokenService, "scope": scope,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if headErr != nil || claimsErr != nil {
		return "", fault.New(fault.Internal, "Google service account: the assertion cannot be written")
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:])
	if err != nil {
		return "", fault.New(fault.Invalid, "Google service account: the private key of the file does not sign")
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
