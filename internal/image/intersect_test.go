package image_test

import (
	"testing"

	"promoter/internal/image"
)

func TestIntersect(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{"", "<2", "<2"},
		{">=1.2 <2", "<1.6", ">=1.2 <1.6"},
		{">=1.2 <2", "<1 || >=1.4", ">=1.4 <2"},
		{">=1.2 <2", ">=2", "<0"},
		{"^1.2", "<1.6", "^1.2 <1.6"},
		{"1.x || 2.x", "!=1.5.0", "1.x !=1.5.0 || 2.x !=1.5.0"},
	} {
		if got := image.Intersect(test[0], test[1]); got != test[2] {
			t.Errorf("%q and %q: %q, want %q", test[0], test[1], got, test[2])
		}
	}
}
