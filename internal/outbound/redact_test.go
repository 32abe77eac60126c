package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const canary = "canary-5up3r-s3cret"

func TestRedact_removesCredentials(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"user in a URL":        "Get \"https://robot:" + canary + "@quay.io/v2/\": no",
		"token in a query":     "Get \"https://quay.io/v2/?token=" + canary + "\": no",
		"fragment":             "https://quay.io/#" + canary,
		"bearer":               "header Authorization: Bearer " + canary,
		"basic":                "sent basic " + canary,
		"a server's own words": "no token in bearer response:\n{\"refresh_token\":\"" + canary + "\"}",
		"a URL that is broken": "https://%zz" + canary + "/",
		"scheme in capitals":   "HTTPS://x:" + canary + "@h/",
	} {
		err := Redact(errors.New(text))
		if strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedact_keepsChainAndHarmlessText(t *testing.T) {
	t.Parallel()
	if Redact(nil) != nil {
		t.Error("nil became an error")
	}
	plain := errors.New("quay.io: no such host")
	if got := Redact(plain); !errors.Is(got, plain) || got.Error() != plain.Error() {
		t.Errorf("a harmless error was changed: %v", got)
	}
	wrapped := Redact(&url.Error{Op: "Get", URL: "https://quay.io/?a=b", Err: context.Canceled})
	if !errors.Is(wrapped, context.Canceled) || wrapped.Error() != `Get "https://quay.io/": context canceled` {
		t.Errorf("Redact = %v", wrapped)
	}
}

func TestScrub_isBounded(t *testing.T) {
	t.Parallel()
	if got := Scrub(strings.Repeat("é", 1000)); len(got) > longestText+4 {
		t.Errorf("%d bytes", len(got))
	}
}

// A terminal obeys what stands between the words of a server.
func TestScrub_removesControlCharacters(t *testing.T) {
	t.Parallel()
	if got, want := Scrub("missing realm: \x1b]0;owned\a\u202e\t\u00a0é"), "missing realm: �]0;owned����é"; got != want {
		t.Errorf("Scrub = %q, want %q", got, want)
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("https://a:", "@b/?c")
	f.Add("Bearer ", "\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(Scrub(before+" https://user:"+canary+"@host/ "+after), canary) {
			t.Errorf("%q and %q let the canary out", before, after)
		}
	})
}

// TestClient_noCredentialInErrors asks servers that fail in every way and send
// the credential back on their way down.
func TestClient_noCredentialInErrors(t *testing.T) {
	t.Parallel()
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, answer, r.Header.Get("Authorization"))
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.Close()
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"a status line that is none":   raw("%s\r\n\r\n"),
		"a header that is none":        raw("HTTP/1.1 200 OK\r\n%s\r\n\r\n"),
		"a status that is none":        raw("HTTP/1.1 %s\r\n\r\n"),
		"a redirect to itself":         raw("HTTP/1.1 302 Found\r\nLocation: https://%s@10.0.0.1/?t=" + canary + "\r\nContent-Length: 0\r\n\r\n"),
		"a redirect that is none":      raw("HTTP/1.1 302 Found\r\nLocation: :%s\r\nContent-Length: 0\r\n\r\n"),
		"nothing":                      raw("%.0s"),
		"a pause":                      raw("HTTP/1.1 429 %s\r\nRetry-After: 900\r\nContent-Length: 0\r\n\r\n"),
		"a body shorter than promised": raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n%.2s"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			c := newClient(t, Options{AllowLoopback: true, Attempts: 1}, nil)
			_, err := get(c, server.URL+"/?token="+canary, "Authorization", "Weird "+canary)
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the canary is out: %v", err)
			}
		})
	}
}
