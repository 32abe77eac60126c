package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what Nexus signs with
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"strings"

	"promoter/internal/secret"
)

// minPathSecret is how many characters a secret in a URL must have: there it is
// all that keeps strangers out, and nobody limits how often they guess.
const minPathSecret = 32

// proofOf finds out how requests of an entry prove themselves.
func proofOf(s sender, options Options) (proof, error) {
	switch {
	case options.Anonymous:
		return func(context.Context, Request) bool { return true }, nil
	case !options.PathSecret.IsZero():
		if len(options.PathSecret.Reveal()) < minPathSecret {
			return nil, errors.New("its pathSecret has fewer than 32 characters: make one with openssl rand -hex 32")
		}
		return inPath(options.PathSecret), nil
	case options.Audience != "":
		return fromGoogle(options)
	case options.Secret.IsZero():
		return nil, errors.New("it has no credential")
	}
	if s.verify == nil {
		return headerSecret(options), nil
	}
	return s.verify(options), nil
}

// equal compares texts in a time that tells nothing of them, not even the length.
func equal(given, wanted string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(wanted))
	return hmac.Equal(a[:], b[:])
}

func inPath(wanted secret.String) proof {
	return func(_ context.Context, r Request) bool { return equal(r.PathSecret, wanted.Reveal()) }
}

// inHeader wants the secret in a header: as it is, or as a bearer token.
func inHeader(header string, wanted secret.String) proof {
	return func(_ context.Context, r Request) bool {
		given := r.Header.Get(header)
		bare := equal(given, wanted.Reveal())
		return equal(strings.TrimPrefix(given, "Bearer "), wanted.Reveal()) || bare
	}
}

// signed wants the HMAC of the body in a header, in hex behind a prefix.
func signed(header, prefix string) proof {
	return func(_ context.Context, r Request) bool { return isHex(r, header, prefix, r.sum) }
}

func isHex(r Request, header, prefix string, wanted []byte) bool {
	given, found := strings.CutPrefix(r.Header.Get(header), prefix)
	sum, err := hex.DecodeString(given)
	return hmac.Equal(sum, wanted) && found && err == nil
}

// hmacOf makes the function that signs bodies with a key.
func hmacOf(with func() hash.Hash, key []byte) func(...[]byte) []byte {
	return func(parts ...[]byte) []byte {
		mac := hmac.New(with, key)
		for _, part := range parts {
			mac.Write(part)
		}
		return mac.Sum(nil)
	}
}

// The ways in which senders prove themselves with a secret.

// headerSecret is for senders that let people choose the header.
func headerSecret(o Options) proof { return inHeader(o.Header, o.Secret) }

// hubSignature is GitHub's way, which others took over.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func hubSignature(Options) proof { return signed("X-Hub-Signature-256", "sha256=") }

// nexusSignature is HMAC-SHA1, as Sonatype Nexus signs.
// https://help.sonatype.com/en/working-with-hmac-payloads.html
func nexusSignature(o Options) proof {
	sign := hmacOf(sha1.New, []byte(o.Secret.Reveal()))
	return func(_ context.Context, r Request) bool {
		return isHex(r, "X-Nexus-Webhook-Signature", "", sign(r.Body))
	}
}

// either is for senders that have two ways.
func either(ways ...proof) proof {
	return func(ctx context.Context, r Request) bool {
		proven := false
		for _, way := range ways {
			proven = way(ctx, r) || proven // all of them, so that the time tells nothing
		}
		return proven
	}
}
