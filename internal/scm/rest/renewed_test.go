package rest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/secret"
	"promoter/internal/secret/secrettest"
)

// A forge that refuses the token of a file gets the request once more, whole, with the token that
// the file has by then, and not if that is the same.
func TestSigner_readsARefusedTokenAgain(t *testing.T) {
	t.Parallel()
	mount := secrettest.NewMount(t, map[string]string{"token": "old"})
	token, valid := mount.Secret("token"), "new"
	var sent []string
	next := roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		sent = append(sent, given+" "+string(body))
		status := http.StatusOK
		if given != valid {
			status = http.StatusUnauthorized
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})
	endpoint, err := WebURL("https://api.github.com/")
	if err != nil {
		t.Fatal(err)
	}
	s := &signer{next: next, endpoint: endpoint, token: func(context.Context) (secret.String, error) { return token, nil }}
	post := func(want int, requests ...string) {
		t.Helper()
		sent = nil
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.github.com/user", strings.NewReader("text"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want || strings.Join(sent, ", ") != strings.Join(requests, ", ") {
			t.Errorf("%d after %q, want %d after %q", resp.StatusCode, sent, want, requests)
		}
	}
	post(http.StatusUnauthorized, "old text")
	mount.Swap(map[string]string{"token": "new"}) // within the second in which the file is not read again
	post(http.StatusOK, "old text", "new text")
	post(http.StatusOK, "new text")
	valid = "newest"
	post(http.StatusUnauthorized, "new text")
}
