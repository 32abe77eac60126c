package registry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

func TestErrors_kindOfStatus(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		status int
		header string
		body   string
		kind   fault.Kind
		words  string
	}{
		{"401", 401, "", `{"errors":[{"code":"UNAUTHORIZED"}]}`, fault.Unauthorized, "401 UNAUTHORIZED: requested without a credential"},
		{"403", 403, "", `{"errors":[{"code":"DENIED"}]}`, fault.Unauthorized, "usableBy"},
		{"404", 404, "", `{"errors":[{"code":"NAME_UNKNOWN"}]}`, fault.NotFound, "404 NAME_UNKNOWN: check the name"},
		{"429 with a time", 429, "120", ``, fault.RateLimited, "limits requests until"},
		{"429 without a time", 429, "", ``, fault.RateLimited, "limits requests until"},
		{"500", 500, "", `<html>`, fault.Temporary, "500 Internal Server Error"},
		{"502", 502, "", ``, fault.Temporary, "502 Bad Gateway"},
		{"503", 503, "", ``, fault.Temporary, "503 Service Unavailable"},
		{"503 with a time", 503, "120", ``, fault.RateLimited, "limits requests until"},
		{"408", 408, "", ``, fault.Temporary, "408"},
		{"a login page", 200, "", `<html>`, fault.Temporary, "not JSON"},
		{"an answer that is cut off", 200, "", `{"tags":["1.0`, fault.Temporary, "tags of"},
		{"tags that are none", 200, "", `{"tags":{}}`, fault.Invalid, "tags of"},
		{"401 of a name that is not there", 401, "", ``, fault.Unauthorized, "check the name"},
		{"418", 418, "", `{"errors":[{"code":"I_AM_NOT_KNOWN"}]}`, fault.Invalid, "answered 418 I'm a teapot"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/v2/" {
					return false
				}
				if tc.header != "" {
					w.Header().Set("Retry-After", tc.header)
				}
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
				return true
			}
			s, err := newClient(t, Options{}).For("a/1").Select(t.Context(), webRequest(t, f))
			if s.Found || fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("err = %v (%s), want %s with %q", err, fault.KindOf(err), tc.kind, tc.words)
			}
			if at, ok := fault.RetryAt(err); ok != (tc.kind == fault.RateLimited) {
				t.Errorf("retry at %v", at)
			}
		})
	}
}

func TestErrors_otherHostsAreUnaffected(t *testing.T) {
	t.Parallel()
	limited, fine := newFake(t), newFake(t)
	limited.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	fine.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	v := newClient(t, Options{}).For("a/1")
	if _, err := v.Select(t.Context(), webRequest(t, limited)); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("err = %v", err)
	}
	asked := limited.count("")
	if _, err := v.Resolve(t.Context(), image.Reference{Repository: limited.repository(t, "acme/other"), Tag: "1"}); fault.KindOf(err) != fault.RateLimited || limited.count("") != asked {
		t.Errorf("the host was asked in its pause: %v", err)
	}
	if s := mustSelect(t, v, webRequest(t, fine)); !s.Found {
		t.Errorf("selected %+v", s)
	}
}

func TestErrors_adviceForACredential(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	credential := f.credential("**")
	credential.Username = "nobody"
	_, err := newClient(t, Options{Credentials: []Credential{credential}}).For("a/1").Select(t.Context(), webRequest(t, f.fake))
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "check its secret and its rights") {
		t.Errorf("err = %v", err)
	}
}

func TestErrors_refusedLoginIsRetriedLater(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	f.bearer = true
	refuse := true
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if refuse && r.URL.Path != "/v2/" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return f.guard(w, r)
	}
	c := newClient(t, Options{Credentials: []Credential{f.credential("**")}})
	ref := image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}
	if _, err := c.For("a/1").Resolve(t.Context(), ref); fault.KindOf(err) != fault.Unauthorized {
		t.Fatalf("err = %v", err)
	}
	refuse = false
	if _, err := c.For("a/1").Resolve(t.Context(), ref); err != nil {
		t.Errorf("after the right was given: %v", err)
	}
}

func TestErrors_guardedHosts(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	f.reset()
	for name, options := range map[string]outbound.Options{
		"loopback":             {},
		"loopback, no TLS":     {Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		"insecure, no network": {Insecure: []string{f.host}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Now, options.Attempts = time.Now, 1
			out, err := outbound.New(options)
			if err != nil {
				t.Fatal(err)
			}
			s, err := newClient(t, Options{Outbound: out}).For("a/1").Select(t.Context(), webRequest(t, f))
			if s.Found || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "not dialed") {
				t.Errorf("selected %+v, err = %v", s, err)
			}
			if f.count("") != 0 {
				t.Errorf("the host was asked %v", f.asked)
			}
		})
	}
	t.Run("an insecure host in a listed network", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
		out, err := outbound.New(outbound.Options{Insecure: []string{f.host}, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if s := mustSelect(t, newClient(t, Options{Outbound: out}).For("a/1"), webRequest(t, f)); !s.Found {
			t.Errorf("selected %+v", s)
		}
	})
}

func TestErrors_refusesTokenServiceOnPrivateNetwork(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token service was asked") }))
	t.Cleanup(inside.Close)
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+inside.URL+`/latest/meta-data",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	credential := Credential{Host: f.host, UsableBy: []string{"**"}, Username: user, Secret: secret.New(password)}
	_, err := newClient(t, Options{Credentials: []Credential{credential}}).For("a/1").Select(t.Context(), webRequest(t, f))
	if err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("err = %v", err)
	}
}

func TestErrors_unreachableHost(t *testing.T) {
	t.Parallel()
	const host = "127.0.0.1:1" // no other process can get this port
	_, err := newClient(t, Options{}).For("a/1").Select(t.Context(), webRequest(t, &fake{host: host}))
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "tags of "+host+"/acme/web") {
		t.Errorf("err = %v (%s)", err, fault.KindOf(err))
	}
}

func TestErrors_canceledBatch(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	pass := newClient(t, Options{}).Batch()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pass.For("a/1").Select(ctx, webRequest(t, f)); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	late, stop := context.WithDeadline(t.Context(), time.Now())
	defer stop()
	if _, err := pass.For("a/1").Select(late, webRequest(t, f)); !errors.Is(err, context.DeadlineExceeded) || fault.KindOf(err) != fault.Temporary {
		t.Errorf("out of time: err = %v (%s)", err, fault.KindOf(err))
	}
	if s := mustSelect(t, pass.For("a/2"), webRequest(t, f)); !s.Found {
		t.Errorf("another view of the pass got %+v", s)
	}
}

func TestErrors_registryStartsToRequireLogin(t *testing.T) {
	t.Parallel()
	f := newAuthFake(t)
	f.push(t, "tenant-b/web", "1.0.0")
	open := true
	f.answer = func(w http.ResponseWriter, r *http.Request) bool { return !open && f.guard(w, r) }
	c := newClient(t, Options{Credentials: []Credential{f.credential("**")}})
	ref := image.Reference{Repository: f.repository(t, "tenant-b/web"), Tag: "1.0.0"}
	if _, err := c.For("a/1").Resolve(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	open, f.bearer = false, true
	if _, err := c.For("a/1").Resolve(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

// The library speaks plain http to private addresses and to this machine by
// itself; what is listed for TLS must get TLS alone.
func TestErrors_listedNetworkStillRequiresTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	t.Cleanup(server.Close)
	out, err := outbound.New(outbound.Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(server.URL, "https://")
	_, err = newClient(t, Options{Outbound: out}).For("a/1").Select(t.Context(), webRequest(t, &fake{host: host}))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("err = %v (%s), want the certificate to be refused", err, fault.KindOf(err))
	}
}

func TestClient_namesForTheLibrary(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{})
	for text, want := range map[string]string{
		"nginx":                   "https://index.docker.io/library/nginx",
		"acme/web":                "https://index.docker.io/acme/web",
		"quay.io/acme/web":        "https://quay.io/acme/web",
		"reg.example:5000/a/b/c":  "https://reg.example:5000/a/b/c",
		"localhost:5000/acme/web": "http://localhost:5000/acme/web", // asked over TLS first
	} {
		r, err := image.ParseRepository(text)
		if err != nil {
			t.Fatal(err)
		}
		name, err := c.name(r)
		if got := name.Scheme() + "://" + name.RegistryStr() + "/" + name.RepositoryStr(); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
}
