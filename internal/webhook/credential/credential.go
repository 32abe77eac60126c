// Package credential verifies who sent a webhook: by a secret in the path or in a header, a
// signature of the body, or an identity token of Google. Every verification takes the same time for
// every input, so that it reveals nothing.
package credential

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strings"
	"time"

	"promoter/internal/secret"
	"promoter/internal/webhook/payload"
)

// Options are the credential of an entry of `receivers` in the server file.
type Options struct {
	// Secret signs the body or is sent in a header, depending on the sender.
	Secret secret.String
	// PathSecret is the last segment of the URL, after the name of the receiver.
	PathSecret secret.String
	// Header carries the secret of senders that let users choose the header.
	Header string
	// Audience and Email are required claims of Google's identity tokens.
	Audience, Email string
	// Anonymous accepts requests without a credential.
	Anonymous bool
	// HTTP fetches the keys of Google's identity tokens.
	HTTP *http.Client
	// Now is the clock, against which identity tokens expire.
	Now func() time.Time
}

// Credential verifies requests. It is safe for concurrent use.
type Credential struct {
	sign   func(...[]byte) []byte // HMAC-SHA256
	verify verifier
}

// verifier reports whether a request carries the credential. It gets the HMAC of the body.
type verifier func(ctx context.Context, request payload.Request, sum []byte) bool

// New returns the credential of a kind of sender. Its error names what the options are missing.
func New(kind string, options Options) (*Credential, error) {
	key := options.Secret
	if key.IsZero() {
		key = secret.New(rand.Text())
	}
	verify, err := verifierOf(kind, options)
	if err != nil {
		return nil, err
	}
	return &Credential{sign: hmacOf(sha256.New, key), verify: verify}, nil
}

// Verify reports whether a request carries the credential. The HMAC of the body is computed for
// every kind of credential, so that the response time reveals neither the kind nor whether the
// receiver exists.
func (c *Credential) Verify(ctx context.Context, request payload.Request) bool {
	return c.verify(ctx, request, c.sign(request.Body))
}

// MinPathSecret is the minimum length of a secret in a URL, in characters: it is the only
// protection, and guesses are not limited.
const MinPathSecret = 32

func verifierOf(kind string, options Options) (verifier, error) {
	switch {
	case options.Anonymous:
		return func(context.Context, payload.Request, []byte) bool { return true }, nil
	case !options.PathSecret.IsZero():
		if len(options.PathSecret.Reveal()) < MinPathSecret {
			return nil, errors.New("its pathSecret has fewer than 32 characters: make one with openssl rand -hex 32")
		}
		return inPath(options.PathSecret), nil
	case options.Audience != "":
		return googleToken(options)
	case options.Secret.IsZero():
		return nil, errors.New("it has no credential")
	}
	if own, ok := senders()[kind]; ok {
		return own(options), nil
	}
	return headerSecret(options), nil
}

// equal compares texts in constant time; the time does not even reveal the length.
func equal(given, wanted string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(wanted))
	return hmac.Equal(a[:], b[:])
}

func inPath(wanted secret.String) verifier {
	return func(_ context.Context, r payload.Request, _ []byte) bool {
		return equal(r.PathSecret, wanted.Reveal())
	}
}

// headerSecret is for senders that let users choose the header.
func headerSecret(o Options) verifier { return inHeader(o.Header, o.Secret) }

// inHeader requires the secret in a header: the bare secret or a bearer token.
func inHeader(header string, wanted secret.String) verifier {
	return func(_ context.Context, r payload.Request, _ []byte) bool {
		given := r.Header.Get(header)
		bare := equal(given, wanted.Reveal())
		return equal(strings.TrimPrefix(given, "Bearer "), wanted.Reveal()) || bare
	}
}

// signed requires the HMAC of the body in a header: a prefix, and the sum in hex.
func signed(header, prefix string) verifier {
	return func(_ context.Context, r payload.Request, sum []byte) bool { return isHex(r, header, prefix, sum) }
}

func isHex(r payload.Request, header, prefix string, wanted []byte) bool {
	given, found := strings.CutPrefix(r.Header.Get(header), prefix)
	sum, err := hex.DecodeString(given)
	return hmac.Equal(sum, wanted) && found && err == nil
}

// hmacOf returns a function that signs bodies with a key, as it is then: its file may be replaced.
func hmacOf(with func() hash.Hash, key secret.String) func(...[]byte) []byte {
	return func(parts ...[]byte) []byte {
		mac := hmac.New(with, []byte(key.Reveal()))
		for _, part := range parts {
			mac.Write(part)
		}
		return mac.Sum(nil)
	}
}

// either is for senders with two kinds of credentials.
func either(verifiers ...verifier) verifier {
	return func(ctx context.Context, r payload.Request, sum []byte) bool {
		verified := false
		for _, verify := range verifiers {
			verified = verify(ctx, r, sum) || verified // calls all of them: the time reveals nothing
		}
		return verified
	}
}
