package gitea

import (
	"strings"
	"testing"
)

func FuzzPrefixOf(f *testing.F) {
	for _, title := range []string{"WIP: web", "wip:web", "[WIP]  web", "[wip]", "WIPE: web", "web", "", "WIP:", "Draft: web"} {
		f.Add(title, true)
		f.Add(title, false)
	}
	f.Fuzz(func(t *testing.T, title string, told bool) {
		prefix := prefixOf(title, told)
		if !strings.HasPrefix(title, prefix) {
			t.Fatalf("%q begins with %q", title, prefix)
		}
		if prefix != "" && strings.HasPrefix(title[len(prefix):], " ") {
			t.Fatalf("of %q a blank is left", title)
		}
		if again := prefixOf(prefix+"x", told); again != prefix {
			t.Fatalf("%q then %q", prefix, again)
		}
		if prefix != "" && !told && prefix != prefixOf(title, true) {
			t.Fatalf("%q is another draft when the server says so", title)
		}
	})
}

func TestPrefixOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]struct{ always, told string }{
		"WIP: web": {"WIP: ", "WIP: "}, "wip:web": {"wip:", "wip:"}, "[WIP]  web": {"[WIP]  ", "[WIP]  "}, "WIPE: web": {},
		"web": {}, "": {}, "Draft: web": {"", "Draft: "}, "[draft]web": {"", "[draft]"}, "Drafts: web": {},
	} {
		if always, told := prefixOf(title, false), prefixOf(title, true); always != want.always || told != want.told {
			t.Errorf("%q begins with %q, and as a draft with %q, want %+v", title, always, told, want)
		}
	}
}
