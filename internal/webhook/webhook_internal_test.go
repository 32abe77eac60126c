package webhook

import (
	"net/http"
	"strings"
	"testing"

	"promoter/internal/secret"
)

// The HMAC of the body is computed once for every kind of credential, valid or not: the
// response time must not reveal the kind.
func TestReceive_signsOnceForEveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		for _, options := range []Options{
			{Kind: kind, Secret: secret.New("a-secret-of-a-receiver"), Header: "X-Secret"},
			{Kind: kind, PathSecret: secret.New(strings.Repeat("s", minPathSecret))},
		} {
			r, err := New(options)
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
			if _, err := r.Receive(t.Context(), Request{Header: http.Header{}, Body: []byte("0123456789")}); err == nil {
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
	options := Options{Kind: "quay", PathSecret: secret.New(strings.Repeat("s", minPathSecret))}
	one, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	if string(one.sign([]byte("x"))) == string(other.sign([]byte("x"))) {
		t.Error("two receivers without a secret have the same key")
	}
}

// Names that senders choose are shortened and cleaned before they are stored or shown.
func TestNormalize_limitsNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	for _, test := range []struct{ id, event, wantEvent string }{
		{"", "push\x00\n\x1b[31m", "push   [31m"},
		{long, long, strings.Repeat("ä", 64)},
		{"a\nb", "push\xff", "push?"},
		{"a\xffb", "push", "push"},
	} {
		got := normalize(Delivery{ID: test.id, EventType: test.event}, Request{Body: []byte("x")})
		if len(got.ID) != 64 || got.EventType != test.wantEvent {
			t.Errorf("%q, %q became %q, %q", test.id, test.event, got.ID, got.EventType)
		}
	}
}
