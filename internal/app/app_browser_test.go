package app_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// browser is a user who presses buttons.
type browser struct {
	t  testing.TB
	at func(address string) string // where a page is served; nil: there
}

func (b browser) do(request *http.Request) (*http.Response, string) {
	b.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response, string(body)
}

func (b browser) get(address string) (status int, page string) {
	b.t.Helper()
	if b.at != nil {
		address = b.at(address)
	}
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	response, page := b.do(request)
	return response.StatusCode, page
}

var (
	formAction   = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	formManifest = regexp.MustCompile(`name="manifest" value="([^"]+)"`)
)

// press opens the page, presses its button and that of GitHub, and returns where GitHub
// sends the browser.
func (b browser) press(address string) string {
	b.t.Helper()
	_, page := b.get(address)
	action, manifest := formAction.FindStringSubmatch(page), formManifest.FindStringSubmatch(page)
	if action == nil || manifest == nil {
		b.t.Fatalf("%s has no button:\n%s", address, page)
	}
	body := strings.NewReader(url.Values{"manifest": {html.UnescapeString(manifest[1])}}.Encode())
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, html.UnescapeString(action[1]), body)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, words := b.do(request)
	if response.StatusCode != http.StatusFound {
		b.t.Fatalf("GitHub answers %d: %s", response.StatusCode, words)
	}
	return response.Header.Get("Location")
}
