package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

// A signing token signs id, time and body; one of several signatures is enough.
func TestGitLab_verifiesSigningTokens(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef0123456789abcdef")
	token := "whsec_" + base64.StdEncoding.EncodeToString(key)
	c := sender{options: webhook.Options{Name: "hook", Kind: "gitlab", Credential: credential.Options{Secret: secret.New(token)}}}
	sign := func(key []byte, text string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	body := []byte("{")
	right := sign(key, "id-1.1793610000.{")
	for _, test := range []struct {
		name, signature, at string
		want                fault.Kind
	}{
		{"the right one", right, "1793610000", fault.Invalid},
		{"the second of two", sign([]byte("older"), "id-1.1793610000.{") + " " + right, "1793610000", fault.Invalid},
		{"of another time", right, "1793610001", fault.Unauthorized},
		{"with another key", sign([]byte("another"), "id-1.1793610000.{"), "1793610000", fault.Unauthorized},
		{"of another body", sign(key, "id-1.1793610000.{}"), "1793610000", fault.Unauthorized},
		{"the text of the token as the key", sign([]byte(token), "id-1.1793610000.{"), "1793610000", fault.Unauthorized},
		{"no Base64", "v1,***", "1793610000", fault.Unauthorized},
		{"nothing", "v1,", "1793610000", fault.Unauthorized},
		{"none", "", "1793610000", fault.Unauthorized},
	} {
		header := http.Header{}
		header.Set("Webhook-Id", "id-1")
		header.Set("Webhook-Timestamp", test.at)
		header.Set("Webhook-Signature", test.signature)
		_, err := c.receiver(t).Receive(t.Context(), webhook.Request{Header: header, Body: body})
		if fault.KindOf(err) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
