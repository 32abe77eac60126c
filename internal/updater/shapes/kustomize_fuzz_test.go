package shapes

import (
	"strings"
	"testing"
)

// FuzzPlainRepository asserts that normalizing a Git URL is idempotent and that
// a repository leads into itself.
func FuzzPlainRepository(f *testing.F) {
	for _, seed := range []string{
		"https://github.com/acme/web", "git@github.com:acme/web.git", "ssh://git@github.com:22/acme/web", "git::https://u:p@h/x",
		"github.com/acme/web//config", "", "@", ":", "//", "a@b@c:d", "http://", "[::1]:22/x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		plain := plainRepository(url)
		if strings.HasSuffix(plain, "/") {
			t.Errorf("%q becomes %q, which ends in a slash", url, plain)
		}
		if plain != "" && (!leadsInto(plain, plain) || !leadsInto(plain+"/config", plain)) {
			t.Errorf("%q becomes %q, which does not lead into itself", url, plain)
		}
		if leadsInto(plain+"x", plain) && plain != "" {
			t.Errorf("%q leads into the longer name %qx", url, plain)
		}
	})
}
