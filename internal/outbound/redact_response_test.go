package outbound

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server sends the credential back in any form: in a redirect to another host, which is
// refused with its name, in a header, or in a body that a library quotes.
func TestClient_noCredentialInResponses(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{
		"plain": canary, "hex": hex.EncodeToString([]byte(canary)), "base64": base64.RawURLEncoding.EncodeToString([]byte(canary)),
	} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusNotFound, http.StatusInternalServerError} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "gopher://"+form+".example.com/"+form)
				w.Header().Set("X-Reason", form)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "no: "+form)
			}))
			t.Cleanup(server.Close)
			c := newClient(t, Options{AllowLoopback: true, Attempts: 1}, nil)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+canary)
			var text string
			resp, err := (&http.Client{Transport: c}).Do(req)
			if err != nil {
				text = err.Error()
			} else {
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Error(err)
				}
				_ = resp.Body.Close()
				text = string(body) + resp.Header.Get("X-Reason") + resp.Header.Get("Location")
			}
			if text == "" || strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
				t.Errorf("%s, %d: %s", name, status, text)
			}
		}
	}
}
