package updater

import (
	"testing"
)

func FuzzMarker(f *testing.F) {
	for _, comment := range []string{"promoter: web.tag", "promoter: ignore", `{"$imagepolicy": "a:b:tag"}`, "{", "promoter:"} {
		f.Add(comment)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		if m, found := parseMarker(comment); found && m.component == "" {
			t.Errorf("%q: a mark without a component", comment)
		}
	})
}
