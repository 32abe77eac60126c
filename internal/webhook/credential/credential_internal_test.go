package credential

import (
	"net/http"
	"strings"
	"testing"

	"promoter/internal/receiver"
	"promoter/internal/secret"
	"promoter/internal/webhook/payload"
)

// The HMAC of the body is computed once for every kind of credential, valid or not: the
// response time must not reveal the kind.
func TestVerify_signsOnceForEveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range receiver.Names() {
		for _, options := range []Options{
			{Secret: secret.New("a-secret-of-a-receiver"), Header: "X-Secret"},
			{PathSecret: secret.New(strings.Repeat("s", MinPathSecret))},
		} {
			r, err := New(kind, options)
			if err != nil {
				t.Fatal(err)
			}
			made, size := 0, 0
			sign := r.sign
			r.sign = func(parts ...[]byte) []byte {
				made++
				for _, part := range parts {
					size += len(part)
				}
				return sign(parts...)
			}
			if r.Verify(t.Context(), payload.Request{Header: http.Header{}, Body: []byte("0123456789")}) {
				t.Errorf("%s accepted an unsigned request", kind)
			}
			if made != 1 || size != 10 {
				t.Errorf("%s made %d sums of %d bytes", kind, made, size)
			}
		}
	}
}

// A receiver without a secret signs with a random key.
func TestNew_withoutASecretUsesARandomKey(t *testing.T) {
	t.Parallel()
	options := Options{PathSecret: secret.New(strings.Repeat("s", MinPathSecret))}
	one, err := New("quay", options)
	if err != nil {
		t.Fatal(err)
	}
	other, err := New("quay", options)
	if err != nil {
		t.Fatal(err)
	}
	if string(one.sign([]byte("x"))) == string(other.sign([]byte("x"))) {
		t.Error("two receivers without a secret have the same key")
	}
}
