package image_test

import (
	"testing"

	"promoter/internal/image"
)

func TestPrefix_Replace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, repository, want string }{
		{"ghcr.io/acme/web", "mirror.example/web", "ghcr.io/acme/web", "mirror.example/web"},
		{"ghcr.io/acme", "mirror.example/ghcr/acme", "ghcr.io/acme/team/web", "mirror.example/ghcr/acme/team/web"},
		{"ghcr.io", "mirror.example:5000", "ghcr.io/acme/web", "mirror.example:5000/acme/web"},
		{"GHCR.io", "mirror.example/ghcr", "ghcr.io/acme/web", "mirror.example/ghcr/acme/web"},
		{"ghcr.io/acme", "mirror.example/acme", "ghcr.io/acmecorp/web", ""},
		{"ghcr.io/acme/web", "mirror.example/web", "ghcr.io/acme", ""},
		{"quay.io", "mirror.example", "ghcr.io/acme/web", ""},
		{"nginx", "mirror.example/hub/nginx", "docker.io/library/nginx", "mirror.example/hub/nginx"},
		{"docker.io/library/nginx", "mirror.example/nginx", "nginx", "mirror.example/nginx"},
		{"docker.io", "mirror.example/hub", "nginx", "mirror.example/hub/library/nginx"},
		{"docker.io/library", "mirror.example/hub", "nginx", "mirror.example/hub/nginx"},
		{"docker.io/acme", "mirror.example/hub/acme", "acme/web", "mirror.example/hub/acme/web"},
		{"index.docker.io/acme", "mirror.example/acme", "acme/web", "mirror.example/acme/web"},
		{"localhost:5000", "localhost:5001/cache", "localhost:5000/web", "localhost:5001/cache/web"},
	} {
		from, err := image.ParsePrefix(test.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := image.ParsePrefix(test.to)
		if err != nil {
			t.Fatal(err)
		}
		repository, err := image.ParseRepository(test.repository)
		if err != nil {
			t.Fatal(err)
		}
		got, below := from.Replace(repository, to)
		if got.Familiar() != test.want && (below || test.want != "") {
			t.Errorf("%s -> %s: %s becomes %s, want %s", test.from, test.to, test.repository, got, test.want)
		}
		if back, found := to.Replace(got, from); below && (!found || back != repository) {
			t.Errorf("%s -> %s: %s becomes %s, and that %s", test.from, test.to, test.repository, got, back)
		}
	}
}

func TestParsePrefix_refuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "oci://ghcr.io/acme", "ghcr.io/acme/", "ghcr.io/", "ghcr.io/acme/web:1.4", "ghcr.io/Acme", "ghcr.io/*", "ghcr.io:x", "/acme"} {
		if got, err := image.ParsePrefix(text); err == nil {
			t.Errorf("%q is accepted as %s", text, got)
		}
	}
}

func TestPrefix_Patterns(t *testing.T) {
	t.Parallel()
	for text, matching := range map[string]map[string]bool{
		"mirror.example/acme": {"mirror.example/acme": true, "mirror.example/acme/web": true, "mirror.example/acme/a/b": true, "mirror.example/other": false},
		"mirror.example":      {"mirror.example/acme": true, "mirror.example/acme/web": true, "other.example/acme": false},
		"docker.io/acme":      {"acme/web": true, "other/web": false},
	} {
		prefix, err := image.ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range matching {
			r, err := image.ParseRepository(name)
			if err != nil {
				t.Fatal(err)
			}
			got := false
			for _, pattern := range prefix.Patterns() {
				got = got || pattern.Match(r)
			}
			if got != want || prefix.Contains(r) != want {
				t.Errorf("%s matches %s: %t, contains it: %t, want %t", text, name, got, prefix.Contains(r), want)
			}
		}
	}
}
