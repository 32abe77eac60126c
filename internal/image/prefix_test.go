package image_test

import (
	"testing"

	"promoter/internal/image"
)

func TestPattern_Prefix(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"nginx":                    {"docker.io", "library/nginx"},
		"quay.io/acme/web":         {"quay.io", "acme/web"},
		"quay.io/acme/**":          {"quay.io", "acme"},
		"quay.io/acme/team-*/web":  {"quay.io", "acme"},
		"quay.io/*":                {"quay.io", ""},
		"acme/*":                   {"docker.io", "acme"},
		"index.docker.io/acme/*":   {"docker.io", "acme"},
		"*.example.com/acme/web":   {"", "acme/web"},
		"**/web":                   {"", ""},
		"registry.example.com/**":  {"registry.example.com", ""},
		"web-*":                    {"docker.io", "library"},
		"localhost:5000/a/b/**/c":  {"localhost:5000", "a/b"},
		"registry.EXAMPLE.com/a/*": {"registry.example.com", "a"},
	} {
		p, err := image.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if host, path := p.Prefix(); host != want[0] || path != want[1] {
			t.Errorf("%s: %q, %q; want %q", text, host, path, want)
		}
	}
}

func TestPattern_MatchPath(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"quay.io/acme/**", "acme/web", true},
		{"quay.io/acme/**", "other/web", false},
		{"**/web", "acme/web", true},
		{"**/web", "acme/worker", false},
		{"*.example.com/acme/*", "acme/web", true},
		{"nginx", "library/nginx", true},
		{"nginx", "nginx", false},
	} {
		p, err := image.ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchPath(test.path); got != test.want {
			t.Errorf("%s and %s: %v", test.pattern, test.path, got)
		}
	}
}
