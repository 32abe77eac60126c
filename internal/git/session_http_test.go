package git_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/secret"
)

// token is the credential that must never be seen.

const token = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"

func with(c git.Credential) func(context.Context) (git.Credential, error) {
	return func(context.Context) (git.Credential, error) { return c, nil }
}

// guarded lets requests through that carry the header, and answers 401 to others.

func (w *web) guarded(authorization string) {
	w.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == authorization {
			return false
		}
		rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		http.Error(rw, "no entry with "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return true
	})
}

func TestHTTP_credentials(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	basic := func(user string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+token))
	}
	for name, test := range map[string]struct {
		credential git.Credential
		header     string
	}{
		"a bearer token":      {git.Credential{Bearer: secret.New(token)}, "Bearer " + token},
		"a password":          {git.Credential{User: "me", Password: secret.New(token)}, basic("me")},
		"a token as password": {git.Credential{Password: secret.New(token)}, basic("x-access-token")},
		"nobody":              {git.Credential{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := o.serve()
			web.guarded(test.header)
			remote := web.remote()
			remote.Credential = with(test.credential)
			fetched(t, opened(t, remote), "main")

			web.guarded("another")
			m := opened(t, remote)
			_, err := m.List(t.Context())
			if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "the server answers 401: no entry with") {
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
			unseen(t, err)
		})
	}
}

// unseen fails for an error that shows the token in any form.

func unseen(t *testing.T, err error) {
	t.Helper()
	for _, form := range []string{token, base64.StdEncoding.EncodeToString([]byte("me:" + token)), base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))} {
		if strings.Contains(err.Error(), form) {
			t.Errorf("the error shows the credential: %v", err)
		}
	}
}

func TestHTTP_answers(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	const advertisement = "application/x-git-upload-pack-advertisement"
	answer := func(code int, kind, body string, headers ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Content-Type", kind)
			for i := 0; i < len(headers); i += 2 {
				rw.Header().Set(headers[i], headers[i+1])
			}
			rw.WriteHeader(code)
			_, _ = io.WriteString(rw, body)
			return true
		}
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		kind   fault.Kind
		want   string
		retry  time.Time
	}{
		"401":                  {answer: answer(401, "text/html", "<p>"), kind: fault.Unauthorized, want: "the server answers 401"},
		"403 with words":       {answer: answer(403, "text/plain; charset=utf-8", "Repository is\nsuspended"), kind: fault.Unauthorized, want: "403: Repository is; suspended"},
		"404":                  {answer: answer(404, "text/plain", ""), kind: fault.NotFound, want: "404"},
		"410":                  {answer: answer(410, "text/plain", ""), kind: fault.NotFound, want: "410"},
		"418":                  {answer: answer(418, "text/plain", ""), kind: fault.Invalid, want: "418"},
		"500":                  {answer: answer(500, "text/plain", ""), kind: fault.Temporary, want: "500"},
		"503":                  {answer: answer(503, "text/plain", "down for repairs"), kind: fault.Temporary, want: "503: down for repairs"},
		"429":                  {answer: answer(429, "text/plain", ""), kind: fault.RateLimited, want: "429"},
		"429 in seconds":       {answer: answer(429, "text/plain", "", "Retry-After", "90"), kind: fault.RateLimited, want: "429", retry: epoch.Add(90 * time.Second)},
		"429 at a time":        {answer: answer(429, "text/plain", "", "Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"), kind: fault.RateLimited, want: "429", retry: time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)},
		"403 with a limit":     {answer: answer(403, "text/plain", "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1700000100"), kind: fault.RateLimited, want: "403", retry: time.Unix(1700000100, 0)},
		"a page":               {answer: answer(200, "text/html", "<html>log in</html>"), kind: fault.Invalid, want: "there is no Git repository at this URL"},
		"an empty answer":      {answer: answer(200, advertisement, ""), kind: fault.Temporary, want: "without an answer"},
		"an error in the list": {answer: answer(200, advertisement, "0020ERR Repository not found.\n\n\n\n"), kind: fault.NotFound, want: "the server says: Repository not found."},
		"garbage":              {answer: answer(200, advertisement, "001e# service=git-upload-pack\nzzzz"), kind: fault.Temporary, want: "invalid pkt-len"},
		"garbage in a line":    {answer: answer(200, advertisement, "001e# service=git-upload-pack\n0000000bgarbage"), kind: fault.Invalid, want: "the server does not speak Git"},
		"a broken connection":  {answer: func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, kind: fault.Temporary, want: "EOF"},
		"words with a token":   {answer: answer(403, "text/plain", "not with "+token), kind: fault.Unauthorized, want: "not with ***"},
		"words without an end": {answer: answer(500, "text/plain", strings.Repeat("long ", 100_000)), kind: fault.Temporary, want: "long long …"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := o.serve()
			web.instead(test.answer)
			remote := web.remote()
			remote.Credential = with(git.Credential{Bearer: secret.New(token)})
			_, err := opened(t, remote).List(t.Context())
			if fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
			unseen(t, err)
			if at, ok := fault.RetryAt(err); ok != !test.retry.IsZero() || !at.Equal(test.retry) {
				t.Errorf("retry at %v, want %v", at, test.retry)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

// The credential stays with its host, whatever a redirect says.

// A server that keeps nothing of what it is told about the boundary leaves out

// what lies below it. That is seen, and fetched again into an empty mirror.
