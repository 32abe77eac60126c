package rest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/secret"
)

// A server or proxy sends the credential back, in any form: neither a body of any status
// nor a redirect shows it.
func TestSigner_redactsResponses(t *testing.T) {
	t.Parallel()
	const canary = "canary-5up3r-s3cret"
	coded, digits := base64.RawStdEncoding.EncodeToString([]byte("oauth2:"+canary)), hex.EncodeToString([]byte(canary))
	for _, status := range []int{200, 302, 404, 500} {
		next := roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: status, Header: http.Header{"Location": {"https://" + digits + ".example.com/?" + canary}},
				Body: io.NopCloser(strings.NewReader(canary + " and " + coded)),
			}, nil
		})
		endpoint, err := WebURL("https://api.github.com/")
		if err != nil {
			t.Fatal(err)
		}
		s := &signer{next: next, endpoint: endpoint, token: func(context.Context) (secret.String, error) { return secret.New(canary), nil }}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.github.com/user", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		text := string(body) + resp.Header.Get("Location")
		if err != nil || strings.Contains(text, canary) || strings.Contains(text, digits) || strings.Contains(text, coded) {
			t.Errorf("%d: %s, %v", status, text, err)
		}
	}
}
