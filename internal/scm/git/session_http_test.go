package git_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm/git"
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
			if fault.KindOf(err) != fault.Unauthorised || !strings.Contains(err.Error(), "the server answers 401: no entry with") {
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
		"401":                  {answer: answer(401, "text/html", "<p>"), kind: fault.Unauthorised, want: "the server answers 401"},
		"403 with words":       {answer: answer(403, "text/plain; charset=utf-8", "Repository is\nsuspended"), kind: fault.Unauthorised, want: "403: Repository is; suspended"},
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
		"words with a token":   {answer: answer(403, "text/plain", "not with "+token), kind: fault.Unauthorised, want: "not with ***"},
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
func TestHTTP_redirects(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(3))
	elsewhere, home := o.serve(), o.serve()
	leaks := func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("another host was shown the credential: %s %s", r.Method, r.URL)
		}
		return false
	}
	elsewhere.instead(leaks)
	remote := func(w *web) git.Remote {
		r := w.remote()
		r.Credential = with(git.Credential{Bearer: secret.New(token)})
		return r
	}
	to := func(target string) func(http.ResponseWriter, *http.Request) bool {
		return func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				t.Errorf("what was moved is asked at its old place: %s", r.URL)
			}
			http.Redirect(rw, r, target+r.URL.String(), http.StatusMovedPermanently) //nolint:gosec // a test of exactly this
			return true
		}
	}
	home.instead(to(elsewhere.URL))
	m := opened(t, remote(home))
	if found := fetched(t, m, "main"); found["main"] != main {
		t.Errorf("found %v", found)
	}

	// Away and home again: it may be the other host that answers.
	back := o.serve()
	back.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		switch {
		case !strings.HasPrefix(r.URL.Path, "/back"):
			http.Redirect(rw, r, elsewhere.URL+"/away", http.StatusFound)
		case r.Header.Get("Authorization") != "":
			t.Error("the credential came back")
		default:
			rw.WriteHeader(http.StatusTeapot)
		}
		return true
	})
	elsewhere.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		leaks(rw, r)
		http.Redirect(rw, r, back.URL+"/back/info/refs", http.StatusFound)
		return true
	})
	if _, err := opened(t, remote(back)).List(t.Context()); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "418") {
		t.Errorf("%v", err)
	}

	// The same host, another path: the credential is still for it.
	moved := o.serve()
	moved.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer "+token {
			t.Error("the credential is gone")
		}
		if strings.HasPrefix(r.URL.Path, "/old/") {
			http.Redirect(rw, r, "/origin.git/"+strings.TrimPrefix(r.URL.String(), "/old/"), http.StatusFound)
			return true
		}
		return false
	})
	old := remote(moved)
	old.URL = moved.URL + "/old"
	fetched(t, opened(t, old), "main")
}

func TestHTTP_redirectsRefused(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	web := o.serve()
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"of what is sent": {func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				http.Redirect(rw, r, "/elsewhere", http.StatusTemporaryRedirect)
				return true
			}
			return false
		}, "redirects what is sent to it"},
		"in circles": {func(rw http.ResponseWriter, r *http.Request) bool {
			http.Redirect(rw, r, r.URL.String(), http.StatusFound)
			return true
		}, "redirects more than 5 times"},
		"to something else": {func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/login" {
				rw.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
				return true
			}
			http.Redirect(rw, r, "/login", http.StatusFound)
			return true
		}, "redirects to what is no Git repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := o.serve()
			web.instead(test.answer)
			_, err := opened(t, web.remote()).Fetch(t.Context(), "main")
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
		})
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, web.URL+r.URL.String(), http.StatusFound) //nolint:gosec // a test of exactly this
	}))
	t.Cleanup(secure.Close)
	_, err := opened(t, git.Remote{URL: secure.URL + "/origin.git", HTTP: secure.Client()}).List(t.Context())
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "redirects to plain http") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
}

// A server that keeps nothing of what it is told about the boundary leaves out
// what lies below it. That is seen, and fetched again into an empty mirror.
func TestFetch_P17_incomplete(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(50))
	o.commit("main", files{"apps/a1/f1.yaml": "old: 1\n"})
	o.commit("main", files{"apps/a1/f1.yaml": "new: 1\n"})
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	revert := o.commit("main", files{"apps/a1/f1.yaml": "old: 1\n"})
	o.repack()
	web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			recorded := httptest.NewRecorder()
			web.backend.ServeHTTP(recorded, r)
			rw.Header().Set("Content-Type", recorded.Header().Get("Content-Type"))
			_, _ = io.WriteString(rw, strings.Replace(recorded.Body.String(), " deepen-since ", " deepen-never ", 1))
			return true
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for {
			at := bytes.Index(body, []byte("0035shallow "))
			if at < 0 {
				break
			}
			body = append(body[:at:at], body[at+0x35:]...)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return false
	})
	web.asked()
	if found := fetched(t, m, "main"); found["main"] != revert {
		t.Errorf("found %v", found)
	}
	same(t, m, o, revert)
	if asked := web.asked(); len(asked) != 4 {
		t.Errorf("%d requests for a fetch that is made twice: %v", len(asked), asked)
	}
}

// breaking is an answer that ends with the connection after so many bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

// Write aborts the connection when there is nothing left.
func (b *breaking) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// A pack that breaks off is no pack: nothing of it stays, and the next fetch is as
// good as if there had been none.
func TestFetch_P17_brokenOff(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit("main", files{"a.yaml": "a\n"})
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	change := many(2000)
	next := o.commit("main", change)
	for _, left := range []int{0, 100, 20_000} {
		web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				web.backend.ServeHTTP(&breaking{ResponseWriter: rw, left: left}, r)
				return true
			}
			return false
		})
		if _, err := m.Fetch(t.Context(), "main"); fault.KindOf(err) != fault.Temporary {
			t.Errorf("after %d bytes: %v: %v", left, fault.KindOf(err), err)
		}
		if id, _ := m.Have("main"); id != first {
			t.Errorf("have %s", id)
		}
	}
	web.instead(nil)
	fetched(t, m, "main")
	same(t, m, o, next)
	if got := history(t, m, next); len(got) != 2 {
		t.Errorf("history: %v", got)
	}
}
