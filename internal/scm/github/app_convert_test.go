package github_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/secret"
)

func noToken(context.Context) (secret.String, error) { return secret.String{}, nil }

// The whole flow: the created App authenticates with the key that was returned.
func TestForge_convert(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Options{})
	back, words := press(t, s, "acme", manifestOptions())
	if words != "" {
		t.Fatal(words)
	}
	made, err := asNobody(t, s).Convert(t.Context(), back.Get("code"), true)
	if err != nil {
		t.Fatal(err)
	}
	of := s.Apps()[0]
	page := s.URL() + "/apps/promoter-acme"
	want := []any{of.ID(), "promoter-acme", "acme", page, page + "/installations/new", s.URL() + "/organizations/acme/settings/apps/promoter-acme", of.Hook().Secret}
	got := []any{made.ID, made.Slug, made.Owner, made.Page, made.Install, made.Settings, made.WebhookSecret.Reveal()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if made.ClientID == "" || made.ClientSecret.IsZero() {
		t.Errorf("%+v lacks what a client has", made)
	}
	app, err := github.NewApp(github.AppOptions{URL: s.URL(), ID: fmt.Sprint(made.ID), Key: made.Key, HTTP: s.Client(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if self, err := app.Self(t.Context()); err != nil || self.Login != "promoter-acme[bot]" {
		t.Errorf("%+v, %v", self, err)
	}
}

// A code works once, for an hour, and only if it is well-formed. No error contains
// it.
func TestForge_convert_codes(t *testing.T) {
	t.Parallel()
	clock := newClock()
	s := githubtest.New(t, githubtest.Options{Now: clock.now})
	back, _ := press(t, s, "", manifestOptions())
	forge := asNobody(t, s)
	used := back.Get("code")
	if _, err := forge.Convert(t.Context(), used, true); err != nil {
		t.Fatal(err)
	}
	options := manifestOptions()
	options.Name = "another"
	late, _ := press(t, s, "", options)
	clock.pass(61 * time.Minute)
	for name, code := range map[string]string{"used": used, "late": late.Get("code"), "unknown": "canary0123"} {
		_, err := forge.Convert(t.Context(), code, true)
		const words = "was used before or is older than an hour: delete the App, if there is one, at "
		if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), words+s.URL()+"/settings/apps") || strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, code := range []string{"", "a/b", "..", "canary canary", strings.Repeat("a", 256)} {
		_, err := forge.Convert(t.Context(), code, true)
		if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", code, err)
		}
	}
}

// answering is a GitHub that always sends the same response.
type answering struct {
	status int
	body   string
}

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	head := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: a.status, Header: head, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

func converted(t *testing.T, body string) (github.Registered, error) {
	t.Helper()
	forge, err := github.New(github.Options{Token: noToken, HTTP: &http.Client{Transport: answering{http.StatusCreated, body}}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return forge.Convert(t.Context(), "code", true)
}

// An incomplete response is an error that lists everything that is missing, and no
// part of it is used.
func TestForge_convert_missing(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	whole := map[string]any{
		"id": 7, "slug": "p", "client_id": "Iv1", "client_secret": "canary-c", "webhook_secret": "canary-w", "pem": w.of.Key(),
		"owner": map[string]any{"login": "acme", "type": "Organization"}, "html_url": "https://github.com/apps/p",
	}
	for _, field := range []string{"", "id", "slug", "client_id", "client_secret", "webhook_secret", "pem"} {
		part := map[string]any{}
		for name, value := range whole {
			if name != field {
				part[name] = value
			}
		}
		body, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		made, err := converted(t, string(body))
		if field == "" {
			if err != nil || made.Page != "https://github.com/apps/p" {
				t.Errorf("whole: %+v, %v", made, err)
			}
			continue
		}
		if err == nil || made.ID != 0 || !strings.Contains(err.Error(), "no usable "+field+": delete the App at") || strings.Contains(err.Error(), "canary") {
			t.Errorf("without %s: %+v, %v", field, made, err)
		}
	}
	if _, err := converted(t, `{"pem": "canary`); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("cut off: %v", err)
	}
}

// No response causes a panic, leaks a secret in an error, or redirects elsewhere.
func FuzzForge_convert(f *testing.F) {
	f.Add([]byte(`{"id": 7, "slug": "p", "client_id": "Iv1", "client_secret": "c", "webhook_secret": "SECRET", "pem": "SECRET"}`))
	f.Add([]byte(`{"id": 7, "slug": "../x", "html_url": "https://evil.example.com/apps/p", "webhook_secret": 5}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		const canary = "canary-5a1c-secret"
		text := bytes.ReplaceAll(body, []byte("SECRET"), []byte(canary))
		made, err := converted(t, string(text))
		if err != nil && (made.ID != 0 || strings.Contains(err.Error(), canary)) {
			t.Errorf("a part was taken, or is shown: %+v, %v", made, err)
		}
		if err == nil && !strings.HasPrefix(made.Install, "https://github.com/") {
			t.Errorf("leads to %s", made.Install)
		}
		if shown := fmt.Sprintf("%+v", made); strings.Contains(shown, "PRIVATE KEY") {
			t.Errorf("the key is shown: %s", shown)
		}
	})
}
