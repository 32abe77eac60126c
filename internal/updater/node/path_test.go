package node

import (
	"testing"
)

func TestPath_errors(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "a.", "a..b", "a[", "a[x]", "a[-1]", `a."b`, `a["b"`, "a[0]b"} {
		if _, err := ParsePath(path); err == nil {
			t.Errorf("%q was parsed as a path", path)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{"a.b", `a."b.c"`, "a[0]", "a[name=b].c", "a['b']", "."} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := ParsePath(path)
		if err == nil && len(steps) == 0 {
			t.Errorf("%q: no steps", path)
		}
		if len(steps) > len(path) {
			t.Errorf("%q: %d steps", path, len(steps))
		}
	})
}
