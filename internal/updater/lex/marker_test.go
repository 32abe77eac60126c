package lex

import (
	"testing"
)

func FuzzMarker(f *testing.F) {
	for _, comment := range []string{"promoter: web.tag", "promoter: ignore", `{"$imagepolicy": "a:b:tag"}`, "{", "promoter:"} {
		f.Add(comment)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		if m, found := ParseMarker(comment); found && m.Component == "" {
			t.Errorf("%q: a mark without a component", comment)
		}
	})
}
