package image

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustPattern(t testing.TB, s string) Pattern {
	t.Helper()
	p, err := ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPattern_Match(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern     string
		match, miss []string
	}{
		{"quay.io/acme/web", []string{"quay.io/acme/web", "QUAY.io/acme/web"}, []string{"quay.io/acme/web-b", "quay.io/x/acme/web", "acme/web"}},
		{"nginx", []string{"docker.io/library/nginx", "index.docker.io/nginx"}, []string{"quay.io/library/nginx", "acme/nginx"}},
		{"quay.io/acme/*", []string{"quay.io/acme/web"}, []string{"quay.io/acme/web/x", "quay.io/acme-b/web", "quay.io/web"}},
		{"registry.example.com/team-*/**", []string{"registry.example.com/team-a/web", "registry.example.com/team-a/b/c/web"}, []string{"registry.example.com/team-a", "registry.example.com/teams/web", "registry.example.com/x/team-a/web"}},
		{"quay.io/**/web", []string{"quay.io/web", "quay.io/a/web", "quay.io/a/b/web"}, []string{"quay.io/a/web-b", "quay.io/web/x"}},
		{"quay.io/**/a/**/b", []string{"quay.io/a/b", "quay.io/a/a/x/b", "quay.io/x/a/b/b"}, []string{"quay.io/b/a", "quay.io/a/x"}},
		{"quay.io/a*b*c", []string{"quay.io/abc", "quay.io/axbbxc"}, []string{"quay.io/acb", "quay.io/ab/c"}},
		{"acme/*", []string{"acme/web", "docker.io/acme/web"}, []string{"quay.io/acme/web", "nginx"}},
		{"docker.io/*", []string{"nginx", "library/redis"}, []string{"acme/web"}},
		{"docker.io/**", []string{"nginx", "acme/web", "a/b/c"}, []string{"quay.io/acme/web"}},
		{"docker.io/**/web", []string{"web", "acme/web", "a/b/web"}, []string{"web/x"}},
		{"library/n*", []string{"nginx"}, []string{"redis", "acme/nginx"}},
		{"n*", []string{"nginx"}, []string{"redis", "acme/nginx"}},
		{"**", []string{"nginx", "quay.io/acme/web", "[::1]:5000/x"}, nil},
		{"**/web", []string{"web", "quay.io/web", "quay.io/a/b/web"}, []string{"quay.io/web/b"}},
		{"*.example.com/**", []string{"a.example.com/x", "a.b.example.com/x/y"}, []string{"example.com/x", "a.example.com.evil.org/x"}},
		{"registry:*/web", []string{"registry:5000/web"}, []string{"registry.x:5000/web"}},
		{"index.docker.io/acme/*", []string{"acme/web"}, []string{"acme/a/b"}},
	} {
		p := mustPattern(t, test.pattern)
		for _, s := range test.match {
			if !p.Match(mustRepository(t, s)) {
				t.Errorf("%s does not match %s", p, s)
			}
		}
		for _, s := range test.miss {
			if p.Match(mustRepository(t, s)) {
				t.Errorf("%s matches %s", p, s)
			}
		}
		if p.Match(Repository{}) {
			t.Errorf("%s matches no repository", p)
		}
	}
}

func TestPattern_exact(t *testing.T) {
	t.Parallel()
	if r, ok := mustPattern(t, "docker.io/nginx").Repository(); !ok || r != mustRepository(t, "nginx") {
		t.Errorf("got %s, %v", r, ok)
	}
	if _, ok := mustPattern(t, "acme/*").Repository(); ok || mustPattern(t, "acme/*").IsExact() {
		t.Error("a pattern with a wildcard is no repository")
	}
	var zero Pattern
	if zero.Match(mustRepository(t, "nginx")) || zero.Match(Repository{}) {
		t.Error("the zero pattern matches something")
	}
}

func TestParsePattern_refuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"*":                             "start with a host",
		"*/web":                         "start with a host",
		"quay.io/a**":                   "stand alone",
		"quay.io/***":                   "stand alone",
		"quay.io/*:1.0":                 "no tag",
		"quay.io/Team-*":                "lower-case",
		"quay.io/-*":                    "no valid name",
		"quay.io/a..*":                  "no valid name",
		"quay.io/*/":                    "no valid name",
		"/a*":                           "no valid name",
		"quay.io//a*":                   "no valid name",
		"**.example.com/x":              "host",
		"a_*.example.com/x":             "host",
		"[::*]:5000/x":                  "host",
		"*.example.com-/x":              "host",
		"quay.io/ä*":                    "lower-case",
		"quay.io/acme/web:1":            "tag or digest",
		"":                              "empty",
		"*" + strings.Repeat("/a", 400): "too long",
	} {
		p, err := ParsePattern(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePattern(%.40q) = %v, want %q", in, err, want)
		}
		if err != nil && p.String() != "" {
			t.Errorf("ParsePattern(%.40q) gives a pattern and %v", in, err)
		}
	}
}

func TestPattern_Literals(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"quay.io/acme/web":               {"acme", "web"},
		"nginx":                          {"nginx"},
		"library/n*x":                    {"n", "x"},
		"registry.example.com/team-*/**": {"team-"},
		"**/web":                         {"web"},
		"**":                             nil,
	} {
		if diff := cmp.Diff(want, mustPattern(t, in).Literals()); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

func FuzzParsePattern(f *testing.F) {
	f.Add("registry.example.com/team-*/**", "registry.example.com/team-a/web")
	f.Add("nginx", "nginx")
	f.Add("*.example.com/**/a/**", "a.example.com/a/b")
	f.Fuzz(func(t *testing.T, one, name string) {
		p, err := ParsePattern(one)
		if err != nil {
			return
		}
		if again, err := ParsePattern(p.String()); err != nil || !cmp.Equal(again, p, cmp.AllowUnexported(Pattern{}, Repository{})) {
			t.Fatalf("%q reads again as %+v, %v", one, again, err)
		}
		r, err := ParseRepository(name)
		if err != nil {
			return
		}
		if p.Match(r) {
			for _, literal := range p.Literals() {
				if !strings.Contains(r.Path(), literal) {
					t.Fatalf("%q matches %q, which has no %q", one, name, literal)
				}
			}
		}
	})
}
