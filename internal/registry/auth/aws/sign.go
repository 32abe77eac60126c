package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/registry/auth"
	"promoter/internal/secret"
)

// keys are what questions are signed with.
type keys struct {
	id      string
	secret  secret.String
	session secret.String // zero: they do not run out
}

// sign signs a POST to the root of a service, by version 4 of Amazon's signatures:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
// host is that of the URL.
func (k keys) sign(q *auth.Question, host, service, region string, now time.Time) {
	now = now.UTC()
	stamp, day := now.Format("20060102T150405Z"), now.Format("20060102")
	q.Header["X-Amz-Date"] = stamp
	if !k.session.IsZero() {
		q.Header["X-Amz-Security-Token"] = k.session.Reveal()
	}
	lines := map[string]string{"host": host}
	for name, value := range q.Header {
		lines[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	var canonical strings.Builder
	canonical.WriteString("POST\n/\n\n")
	names := slices.Sorted(maps.Keys(lines))
	for _, name := range names {
		canonical.WriteString(name + ":" + lines[name] + "\n")
	}
	signed := strings.Join(names, ";")
	canonical.WriteString("\n" + signed + "\n" + hexSum(q.Body))

	scope := strings.Join([]string{day, region, service, "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, hexSum(canonical.String())}, "\n")
	key := []byte("AWS4" + k.secret.Reveal())
	for _, part := range []string{day, region, service, "aws4_request", text} {
		key = keyed(key, part)
	}
	q.Header["Authorization"] = "AWS4-HMAC-SHA256 Credential=" + k.id + "/" + scope +
		", SignedHeaders=" + signed + ", Signature=" + hex.EncodeToString(key)
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
