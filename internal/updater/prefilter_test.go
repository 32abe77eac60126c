package updater

import (
	"fmt"
	"testing"
)

func TestPrefilter(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 100)
	for i := range 100 {
		many = append(many, fmt.Sprintf("service-%04d", i))
	}
	for _, literals := range [][]string{{"service-0007", "web"}, append(many, "web")} {
		p := newPrefilter(literals, newShapeSet(knownShapes()))
		for text, want := range map[string]bool{
			"image: x/service-0007:1": true, "service-0007": true, "service-000": false, "a": false, "": false, "x web y": true, "we b": false,
			"a: b # promoter: x": true, `{"$imagepolicy": 1}`: true, "service-service-0007": true, "service-1007": false,
		} {
			if got := p.pass([]byte(text)); got != want {
				t.Errorf("%d literals, %q: %t", len(literals), text, got)
			}
		}
	}
	for _, literals := range [][]string{nil, {"web", ""}} {
		if p := newPrefilter(literals, newShapeSet(nil)); !p.pass(nil) {
			t.Errorf("%q: a file was left out", literals)
		}
	}
}
