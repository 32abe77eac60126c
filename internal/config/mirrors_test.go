package config

import (
	"slices"
	"testing"

	"promoter/internal/image"
)

func TestEnvironment_MirrorOf(t *testing.T) {
	t.Parallel()
	c, problems := Load("mirrors.yaml", []byte(`
version: 1
components:
  web: {image: ghcr.io/acme/web, select: {semver: "1"}}
  nginx: {image: nginx, select: {semver: "1"}}
  all: {image: quay.io/acme/**, select: {semver: "1"}, only: {environments: [prod]}}
environments:
  dev: {paths: [dev]}
  test:
    paths: [test]
    after: [dev]
    mirrors:
      ghcr.io: test.example/ghcr
  prod:
    paths: [prod]
    after: [test]
    mirrors:
      ghcr.io: mirror.example/ghcr
      ghcr.io/acme/web: mirror.example/web
      docker.io: mirror.example/hub
      quay.io/acme: mirror.example/ghcr/acme
`))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	prod, _ := c.Environment("prod")
	for _, test := range []struct{ followed, written string }{
		{"ghcr.io/acme/web", "mirror.example/web"},
		{"ghcr.io/acme/api", "mirror.example/ghcr/acme/api"},
		{"nginx", "mirror.example/hub/library/nginx"},
		{"quay.io/acme/api", "mirror.example/ghcr/acme/api"},
		{"quay.io/other/api", ""},
		{"mirror.example/web", ""},
	} {
		if got, _ := prod.MirrorOf(repository(t, test.followed)); got.String() != test.written && (test.written != "" || !got.IsZero()) {
			t.Errorf("the mirror of %s is %s, want %s", test.followed, got, test.written)
		}
	}
	for written, followed := range map[string][]string{
		"mirror.example/web":               {"ghcr.io/acme/web"},
		"mirror.example/ghcr/acme/web":     {"quay.io/acme/web"}, // that of ghcr.io has a mirror of its own
		"mirror.example/ghcr/acme/api":     {"ghcr.io/acme/api", "quay.io/acme/api"},
		"mirror.example/hub/library/nginx": {"docker.io/library/nginx"},
		"ghcr.io/acme/web":                 nil,
	} {
		var got []string
		for _, r := range prod.MirroredBy(repository(t, written)) {
			got = append(got, r.String())
		}
		if slices.Sort(got); !slices.Equal(got, followed) {
			t.Errorf("%s mirrors %v, want %v", written, got, followed)
		}
	}
	var patterns []string
	for _, pattern := range c.MirrorPatterns() {
		patterns = append(patterns, pattern.String())
	}
	want := []string{ // exact ones where no component is a pattern
		"test.example/ghcr/acme/web",
		"mirror.example/web", "mirror.example/hub/library/nginx",
		"mirror.example/web/**", "mirror.example/ghcr/acme", "mirror.example/ghcr/acme/**",
		"mirror.example/hub", "mirror.example/hub/**", "mirror.example/ghcr", "mirror.example/ghcr/**",
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(patterns)), want) {
		t.Errorf("patterns: %v\nwant %v", patterns, want)
	}
}

func repository(t *testing.T, name string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
