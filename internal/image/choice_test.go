package image

import "testing"

// An upper bound excludes its own prereleases, in every part of a range.
func TestPolicy_upperBoundExcludesItsPrereleases(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		within, tag string
		admits      bool
	}{
		{">=1.0.0-0 <2", "2.0.0-rc.1", false},
		{">=1.0.0-0 <2", "2.0.0-17-g1a2b3c4", false},
		{">=1.0.0-0 < 2.0", "v2.0.0-rc.1", false},
		{">=1.0.0-0 <2", "1.9.0-rc.1", true},
		{">=1.0.0-0 <2.0.1", "2.0.0-rc.1", true},
		{">=1.0.0-0 <=2", "2.0.0-rc.1", true},
		{">=1.0.0-0 <2.0.0-rc.2", "2.0.0-rc.1", true},
		{">=1.0.0-0 <2 || >=2.0.0-0 <3", "2.0.0-rc.1", true},
		{">=1.0.0-0 <2 || >=3.0.0-0 <4", "2.0.0-rc.1", false},
		{">=1.0.0-0", "2.0.0-rc.1", true},
		{"^1.0.0-0", "2.0.0-rc.1", false},
	} {
		if got := mustPolicy(t, Selection{Semver: tc.within}).Admits(tc.tag); got != tc.admits {
			t.Errorf("%s admits %s: %v", tc.within, tc.tag, got)
		}
	}
}

func TestPolicy_lexicalTrap(t *testing.T) {
	t.Parallel()
	pre := Selection{Semver: ">=1.0.0-0"}
	for _, tc := range []struct {
		selects  Selection
		selected string
		tags     []string
		want     string
	}{
		{pre, "1.0.1-rc9", []string{"1.0.1-rc9", "1.0.1-rc10", "1.0.1-rc11"}, "1.0.1-rc11"},
		{pre, "1.0.1-rc.10", []string{"1.0.1-rc.9", "1.0.1-rc.10"}, ""},
		{pre, "1.0.1-rc9", []string{"1.0.1-rc9", "1.0.1-beta10", "1.0.0-rc10"}, ""},
		{pre, "1.0.1", []string{"1.0.1", "1.0.1-rc10"}, ""},
		{Selection{Alphabetical: "^build-"}, "build-9", []string{"build-9", "build-10"}, "build-10"},
		{Selection{Alphabetical: "^r"}, "r2026-02", []string{"r2026-02", "r2026-01"}, ""},
		{Selection{Numeric: `^build-(?P<version>\d+)$`}, "build-10", []string{"build-9", "build-10"}, ""},
	} {
		if got := mustPolicy(t, tc.selects).LexicalTrap(tc.selected, tc.tags); got != tc.want {
			t.Errorf("%s among %v: got %q, want %q", tc.selected, tc.tags, got, tc.want)
		}
	}
}

func TestPolicy_otherScheme(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		within, current, selected string
		want                      bool
	}{
		{">=1", "6.13.0", "2021.12.14", true},
		{">=1", "2021.12.14", "2022.1.0", false},
		{">=1", "6.13.0", "7.0.0", false},
		{">=2021", "6.13.0", "2021.12.14", false}, // the range names the new scheme
		{">=1", "21.10", "22.04", false},
	} {
		if got := mustPolicy(t, Selection{Semver: tc.within}).OtherScheme(tc.current, tc.selected); got != tc.want {
			t.Errorf("%s: %s and %s: %v", tc.within, tc.current, tc.selected, got)
		}
	}
}

func TestSpelled(t *testing.T) {
	t.Parallel()
	for _, tc := range [][4]string{
		{"v1.4.0", "1.5.0", "v1.5.0", "v1.5.0"},
		{"1.4.0", "1.5.0", "v1.5.0", ""},
		{"1.4.0", "v1.5.0", "1.5.0", "1.5.0"},
		{"v1.4.0", "1.5.0", "", ""},
		{"vnext", "1.5.0", "v1.5.0", ""},
	} {
		var spellings []string
		if tc[2] != "" {
			spellings = append(spellings, tc[2])
		}
		if got := Spelled(tc[0], tc[1], spellings); got != tc[3] {
			t.Errorf("%v: got %q", tc, got)
		}
	}
}
