package gitea

import (
	"strings"
	"testing"
)

func FuzzPrefixOf(f *testing.F) {
	for _, title := range []string{"WIP: web", "wip:web", "[WIP]  web", "[wip]", "WIPE: web", "web", "", "WIP:"} {
		f.Add(title)
	}
	f.Fuzz(func(t *testing.T, title string) {
		prefix := prefixOf(title)
		if !strings.HasPrefix(title, prefix) {
			t.Fatalf("%q begins with %q", title, prefix)
		}
		if prefix != "" && strings.HasPrefix(title[len(prefix):], " ") {
			t.Fatalf("of %q a blank is left", title)
		}
		if again := prefixOf(prefix + "x"); again != prefix {
			t.Fatalf("%q then %q", prefix, again)
		}
	})
}

func TestPrefixOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"WIP: web": "WIP: ", "wip:web": "wip:", "[WIP]  web": "[WIP]  ", "WIPE: web": "", "web": "", "": "", "Draft: web": "",
	} {
		if got := prefixOf(title); got != want {
			t.Errorf("%q begins with %q, want %q", title, got, want)
		}
	}
}
