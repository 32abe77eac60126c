package image_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
)

// Which tags in the files of one target are of another line than that of a component.
func TestLine_foreign(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		selects  image.Selection
		others   []image.Selection
		selected string
		tags     string // a slash ends those of the line, and begins the others
	}{
		// Another component of the repository selects the tag.
		{"another component", image.Selection{Semver: "^16"}, []image.Selection{{Semver: "^15"}}, "16.5", "16.4 / 15.8"},
		{"another component, alone", image.Selection{Semver: "^16"}, []image.Selection{{Semver: "^15"}}, "", "/ 15.8"},
		{"another component of a floating tag", image.Selection{Semver: ">=1"}, []image.Selection{{Tag: "edge"}}, "", "1.4.0 / edge"},

		// A floating tag is a line by its name.
		{"two floating tags", image.Selection{Tag: "alpine"}, nil, "alpine", "alpine / master"},
		{"a version beside a floating tag", image.Selection{Tag: "released"}, nil, "", "released / 1.4.0"},
		{"a floating tag, and versions", image.Selection{Semver: ">=1"}, nil, "1.5.0", "1.4.0 / latest my-tag main-3fa8c21"},
		{"only a build", image.Selection{Semver: ">=1"}, nil, "", "build-77 /"},
		{"only a build that another component selects", image.Selection{Semver: ">=1"}, []image.Selection{{Newest: "^build-"}}, "", "/ build-77"},
		{"only the name of a floating tag", image.Selection{Semver: ">=1"}, nil, "", "/ my-tag"},
		{"a floating tag, and builds", image.Selection{Newest: "^main-[0-9a-f]+$"}, nil, "main-ffff", "main-3fa8c21 main-12 / latest 1.4.0"},
		{"builds of an earlier expression", image.Selection{Newest: "^main-"}, nil, "", "main-3fa8c21 release-99aa /"},
		{"numbers", image.Selection{Numeric: `^build-(?P<version>\d+)$`}, nil, "", "build-7 / latest v1.2"},
		{"releases", image.Selection{Release: "forge/acme/web"}, nil, "v1.5.0", "v1.4.0 1.3.0-rc.1 / latest v1.4.0-alpine v1.4"},

		// The suffix or the number of parts differs from the selected one.
		{"a variant", image.Selection{Semver: ">=1"}, nil, "1.5.0", "1.4.0 / 1.4.0-alpine"},
		{"only a variant", image.Selection{Semver: ">=1"}, nil, "", "/ 1.4.0-alpine"},
		{"a variant in a range of prereleases", image.Selection{Semver: ">=1.0.0-0"}, nil, "", "1.4.0 / 1.4.0-alpine 1.6.0-alpine3.20"},
		{"the variant is selected", image.Selection{Semver: ">=1.0.0-0"}, nil, "1.5.0-alpine", "1.4.0-alpine / 1.4.0 1.4.0-debian"},
		{
			"a variant by its filter",
			image.Selection{Semver: ">=1", Filter: `^(?P<version>[0-9.]+)-alpine[0-9.]*$`},
			nil, "1.5.0-alpine3.20",
			"1.4.0-alpine3.19 1.4.0-alpine / 1.4.0 1.4.0-debian-12-r3",
		},
		{"numbers of a variant", image.Selection{Semver: ">=1.0.0-0"}, nil, "1.5.0-debian-12-r3", "1.4.0-debian-11-r0 / 1.4.0-alpine"},
		{"prereleases become releases", image.Selection{Semver: ">=1"}, nil, "1.5.0", "1.4.0 1.5.0-rc.1 1.5.0-beta2 1.5.0-SNAPSHOT /"},
		{"a prerelease of a filter", image.Selection{Semver: ">=1", Filter: `^[0-9.]+$`}, nil, "1.5.0", "1.4.0 1.5.0-rc.1 / 1.4.0-slim"},
		{"commits and builds", image.Selection{Semver: ">=1.0.0-0"}, nil, "1.5.0", "1.4.0-3fa8c21 1.4.0-12-g3fa8c21 1.4.0-r2 /"},
		{"identifiers of a prerelease", image.Selection{Semver: ">=1.0.0-0"}, nil, "1.5.0-SNAPSHOT.main.12", "1.4.0-SNAPSHOT.feature.x.4 1.4.0 / 1.4.0-alpine.1"},
		{"a leading v", image.Selection{Semver: ">=1"}, nil, "1.5.0", "v1.4.0 1.4.0 /"},
		{"metadata of a chart", image.Selection{Semver: ">=1", Chart: true}, nil, "1.5.0", "1.4.0_b1 /"},
		{"other parts", image.Selection{Semver: "^16"}, nil, "16.5", "16.4 / 16 16.4.1"},
		{"more parts first", image.Selection{Semver: ">=1"}, nil, "", "1.4.0 / 1.4 1"},
		{"only fewer parts", image.Selection{Semver: ">=1"}, nil, "", "1.4 /"},
		{"four parts without a filter", image.Selection{Semver: ">=1"}, nil, "", "1.4.0 / 1.40.0.7998"},
		{"four parts", image.Selection{Semver: ">=1", Filter: `^(?P<version>[0-9.]+)$`}, nil, "1.41.0.8", "1.40.0.7998 / 1.40.0"},

		// Above the range is another line.
		{"above", image.Selection{Semver: "<2"}, nil, "1.5.0", "1.4.0 / 2.1.0"},
		{"only above", image.Selection{Semver: "^16"}, nil, "", "17.1 /"},
		{"a prerelease above", image.Selection{Semver: ">=1 <2"}, nil, "", "1.4.0 / 2.0.0-rc.1"},

		// Below the range is the same line, unless another one is in the range.
		{"a raised range", image.Selection{Semver: "^16"}, nil, "16.5", "15.8 /"},
		{"a raised range of two majors", image.Selection{Semver: "^17"}, nil, "", "15.8 16.4 /"},
		{"two majors", image.Selection{Semver: "^16"}, nil, "16.5", "16.4 / 15.8"},
		{"below with the same major", image.Selection{Semver: ">=1.4 <2"}, nil, "1.5.0", "1.4.0 1.3.0 /"},
		{"between two ranges", image.Selection{Semver: "^1 || ^5"}, nil, "", "3.0.0 /"},

		{"only digests", image.Selection{Semver: ">=1"}, nil, "1.5.0", "/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			own, foreign, _ := strings.Cut(tc.tags, "/")
			line := image.Line{Policy: policyOf(t, tc.selects), Others: map[string]*image.Policy{}, Selected: tc.selected}
			for _, other := range tc.others {
				line.Others["other"] = policyOf(t, other)
			}
			got := line.Foreign(append(strings.Fields(own+foreign), ""))
			want := append([]string(nil), slices.Sorted(slices.Values(strings.Fields(foreign)))...)
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("of another line (-want +got):\n%s\n%v", diff, got)
			}
			for tag, why := range got {
				if why == "" {
					t.Errorf("%s has no reason", tag)
				}
			}
		})
	}
}

// Of two components of one repository, a tag belongs to the one that selects it, or to the
// lowest range above it.
func TestNearest(t *testing.T) {
	t.Parallel()
	policies := []*image.Policy{
		policyOf(t, image.Selection{Semver: "^16"}), policyOf(t, image.Selection{Semver: "^15"}), policyOf(t, image.Selection{Tag: "edge"}),
	}
	for tag, want := range map[string]int{"16.4": 0, "15.8": 1, "edge": 2, "14.2": 1, "17.0": 0, "master": 0} {
		if got := image.Nearest(tag, policies); got != want {
			t.Errorf("%s: got %d, want %d", tag, got, want)
		}
	}
}

// Two selections of one repository must not select the same tags.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b  image.Selection
		share bool
	}{
		{image.Selection{Semver: "^15"}, image.Selection{Semver: "^16"}, false},
		{image.Selection{Semver: ">=15"}, image.Selection{Semver: "^16"}, true},
		{image.Selection{Semver: ">=1"}, image.Selection{Semver: ">=1"}, true},
		{image.Selection{Semver: ">=1", Filter: `^(?P<version>.*)-alpine$`}, image.Selection{Semver: ">=1"}, false},
		{image.Selection{Semver: ">=1", Filter: `^(?P<version>.*)-alpine$`}, image.Selection{Semver: "^2", Filter: `^(?P<version>.*)-alpine$`}, false},
		{image.Selection{Tag: "edge"}, image.Selection{Tag: "stable"}, false},
		{image.Selection{Tag: "edge"}, image.Selection{Tag: "edge"}, true},
		{image.Selection{Tag: "1.4.0"}, image.Selection{Semver: ">=1"}, true},
		{image.Selection{Tag: "edge"}, image.Selection{Newest: "^e"}, true},
		{image.Selection{Newest: "^main-"}, image.Selection{Newest: "^main-"}, true},
		{image.Selection{Newest: "^main-"}, image.Selection{Newest: "^release-"}, false},
	} {
		for _, pair := range [][2]image.Selection{{tc.a, tc.b}, {tc.b, tc.a}} {
			if got := image.Overlap(policyOf(t, pair[0]), policyOf(t, pair[1])); (got != "") != tc.share {
				t.Errorf("%+v and %+v share %q", pair[0], pair[1], got)
			}
		}
	}
}

func policyOf(t *testing.T, s image.Selection) *image.Policy {
	t.Helper()
	policy, err := image.NewPolicy(s)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}
