package image

import (
	"slices"
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
	if zero.Match(mustRepository(t, "nginx")) || zero.Match(Repository{}) || zero.Intersects(mustPattern(t, "**")) || mustPattern(t, "**").Intersects(zero) {
		t.Error("the zero pattern matches something")
	}
}

func TestParsePattern_refuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"*":                             "begin with a host",
		"*/web":                         "begin with a host",
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

func TestPattern_Intersects(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"quay.io/acme/web", "quay.io/acme/web", true},
		{"nginx", "docker.io/library/n*", true},
		{"quay.io/acme/*", "quay.io/acme/web", true},
		{"quay.io/acme/*", "quay.io/*/web", true},
		{"quay.io/acme/*", "quay.io/acme/*/x", false},
		{"quay.io/a*", "quay.io/*b", true},
		{"quay.io/a*", "quay.io/b*", false},
		{"quay.io/a*b", "quay.io/a*c", false},
		{"quay.io/a-*", "quay.io/*-a", true},
		{"quay.io/a.*", "quay.io/a-*", false},
		{"quay.io/**", "ghcr.io/**", false},
		{"*.example.com/**", "eu.*/**", true},
		{"*.example.com/**", "*.example.org/**", false},
		{"*:5000/**", "*.io/**", false},
		{"**", "[::1]:5000/*", true},
		{"**/web", "quay.io/**/db", false},
		{"**/web", "quay.io/*/**", true},
		{"quay.io/**/a/**", "quay.io/b/**", true},
		// A repository of Docker Hub has two components at least.
		{"*.io/web*", "docker.io/**", false},
		{"*.io/*/web*", "docker.io/**", true},
		{"docker.io/*", "library/**", true},
		{"docker.io/*", "acme/**", false},
	} {
		a, b := mustPattern(t, test.a), mustPattern(t, test.b)
		if got := a.Intersects(b); got != test.want {
			t.Errorf("%s and %s: %v", a, b, got)
		}
		if got := b.Intersects(a); got != test.want {
			t.Errorf("%s and %s: %v", b, a, got)
		}
	}
}

// words returns all texts over the letters with at most that many.
func words(letters string, most int) []string {
	all, longest := []string{""}, []string{""}
	for range most {
		var longer []string
		for _, word := range longest {
			for _, letter := range letters {
				longer = append(longer, word+string(letter))
			}
		}
		all, longest = append(all, longer...), longer
	}
	return all
}

// Every pair of short globs is compared with all components that are long enough
// to be a witness.
func TestComponentsMeet_isExact(t *testing.T) {
	t.Parallel()
	components := slices.DeleteFunc(words("a.-_", 6), func(s string) bool { return !validComponent(s) })
	globs := words("a-_*", 3)
	for i, a := range globs {
		for _, b := range globs[i:] {
			if strings.Contains(a+" "+b, "**") {
				continue
			}
			want := slices.ContainsFunc(components, func(s string) bool { return globMatch(a, s) && globMatch(b, s) })
			if got := componentsMeet(a, b); got != want {
				t.Fatalf("%q and %q: %v", a, b, got)
			}
		}
	}
}

func TestHostsMeet_isExact(t *testing.T) {
	t.Parallel()
	hosts := slices.DeleteFunc(words("a0.:", 6), func(s string) bool { return !validHost(s) })
	globs := slices.DeleteFunc(words("a.:*", 3), func(s string) bool { return !validHostGlob(s) })
	for i, a := range globs {
		for _, b := range globs[i:] {
			want := slices.ContainsFunc(hosts, func(s string) bool { return globMatch(a, s) && globMatch(b, s) })
			if got := hostsMeet(a, b); got != want {
				t.Fatalf("%q and %q: %v", a, b, got)
			}
		}
	}
}

// Patterns are compared with all repositories of a small world, in which Docker
// Hub is there with its rule of two components.
func TestPattern_Intersects_isExact(t *testing.T) {
	t.Parallel()
	var repositories []Repository
	for _, host := range []string{"docker.io", "a.io", "b.io"} {
		for _, path := range words("ab", 5)[1:] {
			repositories = append(repositories, mustRepository(t, host+"/"+strings.Join(strings.Split(path, ""), "/")))
		}
	}
	var patterns []Pattern
	for _, host := range []string{"**", "docker.io", "*.io", "a.io"} {
		for _, path := range words("a*?", 3)[1:] {
			path = strings.ReplaceAll(strings.Join(strings.Split(path, ""), "/"), "?", "**")
			patterns = append(patterns, mustPattern(t, host+"/"+path))
		}
	}
	matches := func(p Pattern) []bool {
		matched := make([]bool, len(repositories))
		for i, r := range repositories {
			matched[i] = p.Match(r)
		}
		return matched
	}
	for i, a := range patterns {
		left := matches(a)
		for _, b := range patterns[i:] {
			right, want := matches(b), false
			for k := range left {
				want = want || left[k] && right[k]
			}
			if got := a.Intersects(b); got != want {
				t.Fatalf("%s and %s: %v", a, b, got)
			}
		}
	}
}

func FuzzParsePattern(f *testing.F) {
	f.Add("registry.example.com/team-*/**", "registry.example.com/team-a/web", "**/web")
	f.Add("nginx", "nginx", "docker.io/*")
	f.Add("*.example.com/**/a/**", "a.example.com/a/b", "quay.io/a*b*c*d*e")
	f.Fuzz(func(t *testing.T, one, name, two string) {
		p, err := ParsePattern(one)
		if err != nil {
			return
		}
		if again, err := ParsePattern(p.String()); err != nil || !cmp.Equal(again, p, cmp.AllowUnexported(Pattern{}, Repository{})) {
			t.Fatalf("%q reads again as %+v, %v", one, again, err)
		}
		if !p.Intersects(p) {
			t.Fatalf("%q does not intersect itself", one)
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
		q, err := ParsePattern(two)
		if err == nil && p.Match(r) && q.Match(r) && !p.Intersects(q) {
			t.Fatalf("%q and %q both match %q", one, two, name)
		}
		if err == nil && p.Intersects(q) != q.Intersects(p) {
			t.Fatalf("%q and %q: not the same both ways", one, two)
		}
	})
}
