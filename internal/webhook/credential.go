package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"strings"

	"promoter/internal/secret"
)

// minPathSecret is the minimum length of a secret in a URL, in characters: it is the only
// protection, and guesses are not limited.
const minPathSecret = 32

// verifierOf returns the verifier of an entry.
func verifierOf(s sender, options Options) (verifier, error) {
	switch {
	case options.Anonymous:
		return func(context.Context, Request) bool { return true }, nil
	case !options.PathSecret.IsZero():
		if len(options.PathSecret.Reveal()) < minPathSecret {
			return nil, errors.New("its pathSecret has fewer than 32 characters: make one with openssl rand -hex 32")
		}
		return inPath(options.PathSecret), nil
	case options.Audience != "":
		return googleToken(options)
	case options.Secret.IsZero():
		return nil, errors.New("it has no credential")
	}
	if s.verifier == nil {
		return headerSecret(options), nil
	}
	return s.verifier(options), nil
}

// equal compares texts in constant time; the time does not even reveal the length.
func equal(given, wanted string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(wanted))
	return hmac.Equal(a[:], b[:])
}

func inPath(wanted secret.String) verifier {
	return func(_ context.Context, r Request) bool { return equal(r.PathSecret, wanted.Reveal()) }
}

// inHeader requires the secret in a header: the bare secret or a bearer token.
func inHeader(header string, wanted secret.String) verifier {
	return func(_ context.Context, r Request) bool {
		given := r.Header.Get(header)
		bare := equal(given, wanted.Reveal())
		return equal(strings.TrimPrefix(given, "Bearer "), wanted.Reveal()) || bare
	}
}

// signed requires the HMAC of the body in a header: a prefix, and the sum in hex.
func signed(header, prefix string) verifier {
	return func(_ context.Context, r Request) bool { return isHex(r, header, prefix, r.sum) }
}

func isHex(r Request, header, prefix string, wanted []byte) bool {
	given, found := strings.CutPrefix(r.Header.Get(header), prefix)
	sum, err := hex.DecodeString(given)
	return hmac.Equal(sum, wanted) && found && err == nil
}

// hmacOf returns a function that signs bodies with a key.
func hmacOf(with func() hash.Hash, key []byte) func(...[]byte) []byte {
	return func(parts ...[]byte) []byte {
		mac := hmac.New(with, key)
		for _, part := range parts {
			mac.Write(part)
		}
		return mac.Sum(nil)
	}
}

// headerSecret is for senders that let users choose the header.
func headerSecret(o Options) verifier { return inHeader(o.Header, o.Secret) }

// hubSignature is GitHub's signature, which other senders have adopted.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func hubSignature(Options) verifier { return signed("X-Hub-Signature-256", "sha256=") }

// either is for senders with two kinds of credentials.
func either(verifiers ...verifier) verifier {
	return func(ctx context.Context, r Request) bool {
		verified := false
		for _, verify := range verifiers {
			verified = verify(ctx, r) || verified // calls all of them: the time reveals nothing
		}
		return verified
	}
}
