package git_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/secret"
)

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
