package outbound

import (
	"strings"
	"testing"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                                     "/",
		"/":                                    "/",
		"/repos/acme/gitops/pulls/12/merge":    "/repos/*/*/pulls/*/merge",
		"/api/v4/projects/acme%2Fgitops/notes": "/api/v4/projects/*/notes",
		"/v2/acme/web/manifests/sha256:0":      "/v2/*/*/manifests/*",
		"/acme/gitops.git/git-upload-pack":     "/*/*/git-upload-pack",
		"/webhooks/canary":                     "/*/*",
		"/Repos/canary":                        "/*/*",
		"/" + strings.Repeat("a/", 100):        strings.Repeat("/*", 16) + "/…",
	} {
		if got := Route(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// Whatever a path is, its route has no part that is not a word of the list.
func FuzzRoute(f *testing.F) {
	f.Add("/repos/acme/canary")
	f.Add("//a//%2f/…")
	f.Fuzz(func(t *testing.T, path string) {
		route := Route(path)
		if Route(route) != route && !strings.HasSuffix(route, "…") {
			t.Errorf("%q: the route of the route %q is %q", path, route, Route(route))
		}
		for part := range strings.SplitSeq(route, "/") {
			if part != "" && part != "*" && part != "…" && !routeWords[part] {
				t.Errorf("%q: %q is in the route", path, part)
			}
		}
	})
}
