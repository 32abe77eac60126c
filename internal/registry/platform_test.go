package registry

import "testing"

func TestPlatform_variants(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		wanted, there string
		ok            bool
	}{
		{"linux/amd64", "linux/amd64", true},
		{"linux/arm64/v8", "linux/arm64", true},
		{"linux/arm64", "linux/arm64", true},
		{"linux/arm", "linux/arm/v7", true},
		{"linux/arm/v6", "linux/arm/v7", false},
		{"linux/arm", "linux/arm64", false},
		{"linux", "linux/amd64", true},
		{"windows/amd64", "linux/amd64", false},
	} {
		if got := runsOn(tc.wanted, tc.there); got != tc.ok {
			t.Errorf("runsOn(%q, %q) = %v", tc.wanted, tc.there, got)
		}
	}
}
