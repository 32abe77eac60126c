package app_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// A user signs in with a token of the server file, and sees what the last reconciliation found.
func TestServe_dashboard(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.release("web", "1.1.0")
	w := serve(t, s)
	w.notify("web:1.1.0")
	w.until("reconciled")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	read := func(method, path string, form url.Values) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s, %v\n%s", response.Status, err, text)
		}
		return string(text)
	}
	if page := read(http.MethodGet, "/", nil); !strings.Contains(page, "<h1>Sign in</h1>") || strings.Contains(page, "1.1.0") {
		t.Errorf("without a session:\n%s", page)
	}
	page := read(http.MethodPost, "/sign-in", url.Values{"token": {serveToken}, "next": {"/"}})
	if !strings.Contains(page, "<h1>Overview</h1>") || !strings.Contains(page, "→ web 1.1.0") {
		t.Errorf("the overview:\n%s", page)
	}
	if page := read(http.MethodGet, "/history", nil); !strings.Contains(page, "opened") {
		t.Errorf("the history:\n%s", page)
	}
	page = read(http.MethodGet, "/activity", nil)
	_, link, found := strings.Cut(page, `<a href="/repositories/`)
	if !found {
		t.Fatalf("the activity:\n%s", page)
	}
	path, _, _ := strings.Cut(link, `"`)
	if page := read(http.MethodGet, "/repositories/"+path, nil); !strings.Contains(page, "acme/gitops</h1>") || !strings.Contains(page, "propose: automatic") {
		t.Errorf("the repository:\n%s", page)
	}
	if page := read(http.MethodGet, "/where?q=1.1.0", nil); !strings.Contains(page, "web 1.1.0") || !strings.Contains(page, ">open<") {
		t.Errorf("where it is:\n%s", page)
	}
	if page := read(http.MethodGet, "/delivery", nil); !strings.Contains(page, "<h1>Delivery metrics</h1>") {
		t.Errorf("the delivery metrics:\n%s", page)
	}
	browser.Jar = nil // a badge needs no session
	if image := read(http.MethodGet, "/badges/"+serveBadge+"/shop.svg?version=1.1.0", nil); !strings.Contains(image, "<svg") || !strings.Contains(image, "staging open") {
		t.Errorf("the badge:\n%s", image)
	}
	if _, err := w.client(serveBadge).Status(t.Context()); err == nil {
		t.Error("the token of a badge reads the API")
	}
}
