package wire

import (
	"strings"
	"testing"

	"promoter/internal/fault"
)

func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"https://a.example/b", "ssh://git@a.example:22/~b/c", "git@a.example:b", "file:///b", "https://u:hunter2@a.example/b", "u:hunter2@a.example:b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseURL(text)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if a.path == "" || a.scheme != "file" && a.host == "" || strings.HasPrefix(a.path, "-") {
			t.Errorf("%q: %+v", text, a)
		}
		if strings.Contains(a.host, "@") || a.scheme == "ssh" && !strings.Contains(text, "://") && strings.Contains(a.path, "@") {
			t.Errorf("%q may show a password: %s", text, a)
		}
	})
}
