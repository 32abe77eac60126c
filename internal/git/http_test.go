package git_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/wire"
	"promoter/internal/outbound"
	"promoter/internal/secret"
	"promoter/internal/secret/secrettest"
)

// token is the credential that must never be seen.
const token = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"

func with(c wire.Credential) func(context.Context) (wire.Credential, error) {
	return func(context.Context) (wire.Credential, error) { return c, nil }
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
		credential wire.Credential
		header     string
	}{
		"a bearer token":      {wire.Credential{Bearer: secret.New(token)}, "Bearer " + token},
		"a password":          {wire.Credential{User: "me", Password: secret.New(token)}, basic("me")},
		"a token as password": {wire.Credential{Password: secret.New(token)}, basic("x-access-token")},
		"nobody":              {wire.Credential{}, ""},
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
			if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "the server responded with status 401: no entry with") {
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
			unseen(t, err)
		})
	}
}

// A server that refuses the password of a file gets the one that the file has by then, once.
func TestHTTP_readsARefusedPasswordAgain(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	web := o.serve()
	web.guarded("Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+token)))
	mount := secrettest.NewMount(t, map[string]string{"password": "before"})
	remote := web.remote()
	remote.Credential = with(wire.Credential{User: "me", Password: mount.Secret("password")})
	m := opened(t, remote)
	if _, err := m.List(t.Context()); fault.KindOf(err) != fault.Unauthorized || len(web.asked()) != 1 {
		t.Errorf("with the password before: %v", err)
	}
	mount.Swap(map[string]string{"password": token}) // within the second in which the file is not read again
	if _, err := m.List(t.Context()); err != nil || len(web.asked()) != 2 {
		t.Errorf("with the password after: %v", err)
	}
	fetched(t, m, "main")
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
		"401":                  {answer: answer(401, "text/html", "<p>"), kind: fault.Unauthorized, want: "the server responded with status 401"},
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
		"an empty answer":      {answer: answer(200, advertisement, ""), kind: fault.Temporary, want: "without a response"},
		"an error in the list": {answer: answer(200, advertisement, "0020ERR Repository not found.\n\n\n\n"), kind: fault.NotFound, want: "the server reported: Repository not found."},
		"garbage":              {answer: answer(200, advertisement, "001e# service=git-upload-pack\nzzzz"), kind: fault.Temporary, want: "invalid pkt-len"},
		"garbage in a line":    {answer: answer(200, advertisement, "001e# service=git-upload-pack\n0000000bgarbage"), kind: fault.Invalid, want: "the server does not speak the Git protocol"},
		"a broken connection":  {answer: func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, kind: fault.Temporary, want: "EOF"},
		"words with a token":   {answer: answer(403, "text/plain", "not with "+token), kind: fault.Unauthorized, want: "not with ***"},
		"words without an end": {answer: answer(500, "text/plain", strings.Repeat("long ", 100_000)), kind: fault.Temporary, want: "long long …"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := o.serve()
			web.instead(test.answer)
			remote := web.remote()
			remote.Credential = with(wire.Credential{Bearer: secret.New(token)})
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
	remote := func(w *web) wire.Remote {
		r := w.remote()
		r.Credential = with(wire.Credential{Bearer: secret.New(token)})
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
		}, "redirects a POST request"},
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
		}, "redirects to a URL that is not a Git repository"},
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
	_, err := opened(t, wire.Remote{URL: secure.URL + "/origin.git", HTTP: secure.Client()}).List(t.Context())
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "redirects to plain http") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
}

// guardedClient is what promoter hands in: the guarded client.
func guardedClient(t *testing.T, loopback bool) *http.Client {
	t.Helper()
	client, err := outbound.New(outbound.Options{AllowLoopback: loopback, Attempts: 1, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return &http.Client{Transport: client}
}

func TestHTTP_throughTheGuard(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(30))
	web := o.serve()
	web.guarded("Bearer " + token)
	remote := web.remote()
	remote.HTTP = guardedClient(t, true)
	remote.Credential = with(wire.Credential{Bearer: secret.New(token)})
	m := opened(t, remote)
	fetched(t, m, "main")
	same(t, m, o, main)
	next := written(t, m, main, files{"a.yaml": "a\n"})
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: next}); err != nil {
		t.Error(err)
	}
	web.instead(func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Retry-After", "3600")
		http.Error(rw, "slow down", http.StatusTooManyRequests)
		return true
	})
	_, err := m.List(t.Context())
	if at, ok := fault.RetryAt(err); fault.KindOf(err) != fault.RateLimited || !ok || at.Before(epoch) {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}

	remote.HTTP = guardedClient(t, false)
	_, err = opened(t, remote).List(t.Context())
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "plain http") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	unseen(t, err)
}
