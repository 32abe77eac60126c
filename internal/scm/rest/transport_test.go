package rest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"promoter/internal/secret"
)

func TestSigner_addsNothingForOthers(t *testing.T) {
	t.Parallel()
	seen := ""
	token := func(context.Context) (secret.String, error) { return secret.New("canary"), nil }
	next := roundTrip(func(req *http.Request) (*http.Response, error) {
		seen = req.Header.Get("Authorization")
		return nil, errors.New("no answer")
	})
	endpoint, err := WebURL("https://api.github.com/")
	if err != nil {
		t.Fatal(err)
	}
	s := &signer{next: next, token: token, endpoint: endpoint}
	for url, want := range map[string]string{
		"https://api.github.com/user": "Bearer canary", "http://api.github.com/user": "", "https://api.github.com:8443/user": "",
		"https://evil.example.com/user": "", "https://api.github.com.evil.example.com/user": "",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.RoundTrip(req)
		if err == nil || seen != want || req.Header.Get("Authorization") != "" {
			t.Errorf("%s was asked with %q, want %q (%v)", url, seen, want, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// A credential that a library adds by itself is not sent.
func TestSigner_replacesWhatALibraryPutOn(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{"": "", "ours": "Bearer ours"} {
		next := roundTrip(func(req *http.Request) (*http.Response, error) {
			if got := req.Header.Get("Authorization"); got != want {
				t.Errorf("asked with %q, want %q", got, want)
			}
			return nil, errors.New("no answer")
		})
		endpoint, err := WebURL("https://gitlab.example.com/api/v4/")
		if err != nil {
			t.Fatal(err)
		}
		s := &signer{next: next, endpoint: endpoint, token: func(context.Context) (secret.String, error) { return secret.New(token), nil }}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://gitlab.example.com/api/v4/user", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer other")
		if _, err = s.RoundTrip(req); err == nil {
			t.Error("answered")
		}
	}
}
