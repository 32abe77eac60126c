package image

import (
	"strings"
	"testing"
)

func mustRepository(t testing.TB, s string) Repository {
	t.Helper()
	r, err := ParseRepository(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRepository_dockerHubIsOne(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"nginx", "library/nginx", "docker.io/nginx", "docker.io/library/nginx", "index.docker.io/nginx",
		"index.docker.io/library/nginx", "registry-1.docker.io/library/nginx", "registry.hub.docker.com/nginx",
		"Docker.IO/library/nginx",
	} {
		r := mustRepository(t, s)
		if r != mustRepository(t, "nginx") {
			t.Errorf("%s is %s", s, r)
		}
		got := []string{r.Host(), r.Path(), r.Name(), r.String(), r.Familiar()}
		want := []string{"docker.io", "library/nginx", "nginx", "docker.io/library/nginx", "nginx"}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: got %q, want %q", s, got, want)
		}
	}
}

func TestParseRepository_parts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, host, path, name, full, familiar string }{
		{"quay.io/acme/web", "quay.io", "acme/web", "web", "quay.io/acme/web", "quay.io/acme/web"},
		{"Quay.IO/acme/web", "quay.io", "acme/web", "web", "quay.io/acme/web", "quay.io/acme/web"},
		{"acme/web", "docker.io", "acme/web", "web", "docker.io/acme/web", "acme/web"},
		{"library/acme/web", "docker.io", "library/acme/web", "web", "docker.io/library/acme/web", "library/acme/web"},
		{"localhost/web", "localhost", "web", "web", "localhost/web", "localhost/web"},
		{"registry:5000/web", "registry:5000", "web", "web", "registry:5000/web", "registry:5000/web"},
		{"[2001:DB8::1]:5000/web", "[2001:db8::1]:5000", "web", "web", "[2001:db8::1]:5000/web", "[2001:db8::1]:5000/web"},
		{"Registry/web", "Registry", "web", "web", "Registry/web", "Registry/web"},
		{"library", "docker.io", "library/library", "library", "docker.io/library/library", "library"},
	} {
		r := mustRepository(t, test.in)
		got := struct{ in, host, path, name, full, familiar string }{test.in, r.Host(), r.Path(), r.Name(), r.String(), r.Familiar()}
		if got != test {
			t.Errorf("got %q, want %q", got, test)
		}
		if again := mustRepository(t, r.String()); again != r {
			t.Errorf("%s read again is %s", r, again)
		}
		if again := mustRepository(t, r.Familiar()); again != r {
			t.Errorf("%s read again is %s", r.Familiar(), again)
		}
	}
}

func TestParseRepository_neighborsAreOthers(t *testing.T) {
	t.Parallel()
	wanted := mustRepository(t, "r.example/a")
	for _, s := range []string{"r.example/a-b", "r.example/x/a", "x/r.example/a", "r.example:443/a", "r.example/a/b", "a", "sub.r.example/a"} {
		if mustRepository(t, s) == wanted {
			t.Errorf("%s equals %s", s, wanted)
		}
	}
}

func TestParseRepository_refuses(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("a1", 32)
	for in, want := range map[string]string{
		"":                                    "empty",
		"quay.io/acme/web:1.0":                "has a tag or digest",
		"quay.io/acme/web@sha256:" + hex:      "has a tag or digest",
		"quay.io/Acme/web":                    "lower case",
		"quay.io/":                            "lower case",
		"quay.io//web":                        "lower case",
		"https://quay.io/acme/web":            "leave out the scheme",
		"quay_x.io/acme/web":                  "host",
		hex:                                   "digest or ID",
		"sha256:" + hex:                       "digest or ID",
		"quay.io/" + strings.Repeat("a", 256): "too long",
		strings.Repeat("a", 249):              "too long",
		strings.Repeat("a", 1<<20):            "too long",
		"quay.io/acme/web\n":                  "lower case",
	} {
		_, err := ParseRepository(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRepository(%.40q) = %v, want %q", in, err, want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("the error for %.40q has %d bytes", in, len(err.Error()))
		}
	}
}

func TestRepository_zero(t *testing.T) {
	t.Parallel()
	var r Repository
	if !r.IsZero() || r.String() != "" || r.Familiar() != "" || r.Name() != "" || r.Path() != "" {
		t.Errorf("the zero value is %q", r)
	}
	if mustRepository(t, "nginx").IsZero() {
		t.Error("nginx is zero")
	}
}
