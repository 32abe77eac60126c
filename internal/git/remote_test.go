package git_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/wire"
)

// everywhere can go over every transport.
func everywhere(url string) wire.Remote {
	return wire.Remote{
		URL: url, AllowFile: true, HTTP: http.DefaultClient, KnownHosts: "/known",
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
	}
}

func TestOpen_address(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://forge.example/acme/shop.git":           "",
		"HTTPS://Forge.Example/acme/shop":               "",
		"https://someone@forge.example/acme/shop":       "",
		"http://127.0.0.1:3000/acme/shop":               "",
		"ssh://git@forge.example:2222/acme/shop":        "",
		"ssh://forge.example/~me/shop":                  "",
		"git@forge.example:acme/shop.git":               "",
		"forge.example:shop":                            "",
		"file:///srv/shop.git":                          "",
		"file://localhost/srv/shop.git":                 "",
		"https://me:" + token + "@forge.example/shop":   "contains a password, which is refused",
		"ssh://me:" + token + "@forge.example/shop":     "contains a password, which is refused",
		"https://forge.example/shop?token=" + token:     "has a query or a fragment",
		"https://forge.example/shop#" + token:           "has a query or a fragment",
		"https://forge.example":                         "has no path on",
		"https://forge.example//":                       "has no path on",
		"https:///shop":                                 "has no host",
		"https:shop":                                    "",
		"https://forge.example:port/shop" + token:       "cannot be parsed",
		"ftp://forge.example/shop":                      "is not supported for Git repositories",
		"git://forge.example/shop":                      "is not supported for Git repositories",
		"file://elsewhere/srv/shop.git":                 "is on another host",
		"/srv/shop.git":                                 "is invalid: it must begin",
		"./shop":                                        "is invalid: it must begin",
		"shop":                                          "is invalid: it must begin",
		"":                                              "is invalid: it must begin",
		"git@forge.example:":                            "is invalid: it must begin",
		"git@forge.example:--upload-pack=x":             "is invalid: it must begin",
		"me:" + token + "@forge.example:shop":           "is invalid: it must begin",
		"a@b@forge.example:shop":                        "is invalid: it must begin",
		`C:\shop`:                                       "",
		"ssh://forge.example/-x":                        "",
		"ext::sh -c touch% /x":                          "",
		"https://forge.example/acme/../shop%0d%0aX: y/": "",
	} {
		m, err := git.Open(t.Context(), filepath.Join(t.TempDir(), "mirror"), git.Options{Remote: everywhere(url)})
		if err == nil {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if want == "" && err != nil {
			t.Errorf("%q: %v", url, err)
		}
		if want != "" && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v: %v, want %q", url, fault.KindOf(err), err, want)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}

func TestOpen_needs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		remote wire.Remote
		want   string
	}{
		"file":        {wire.Remote{URL: "file:///srv/shop.git"}, "on the local disk are not allowed here"},
		"https":       {wire.Remote{URL: "https://forge.example/shop"}, "requires an HTTP client"},
		"ssh":         {wire.Remote{URL: "ssh://forge.example/shop", KnownHosts: "x"}, "requires a dialer"},
		"known hosts": {wire.Remote{URL: "ssh://forge.example/shop", Dial: everywhere("").Dial}, "a known_hosts file"},
	} {
		_, err := git.Open(t.Context(), filepath.Join(t.TempDir(), "mirror"), git.Options{Remote: test.remote})
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFile_missing(t *testing.T) {
	t.Parallel()
	m := opened(t, wire.Remote{URL: "file://" + t.TempDir() + "/none.git", AllowFile: true})
	if _, err := m.List(t.Context()); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if _, err := m.Fetch(t.Context(), "main"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
}
