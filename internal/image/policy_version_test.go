package image_test

import (
	"testing"

	"promoter/internal/image"
)

func TestPolicy_VersionOf_isThePartThatIsCompared(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		selection    image.Selection
		tag, version string // as a file names the version
		back         bool   // the version determines the tag
	}{
		{name: "whole tag", selection: image.Selection{Semver: ">=1"}, tag: "v2.1.0", version: "v2.1.0", back: true},
		{name: "group", selection: image.Selection{Semver: ">=1", Filter: `^rel-(?P<version>.+)-slim$`}, tag: "rel-2.1.0-slim", version: "2.1.0", back: true},
		{name: "group, optional prefix", selection: image.Selection{Semver: ">=1", Filter: `^v?(?P<version>.+)$`}, tag: "v2.1.0", version: "2.1.0"},
		{name: "group, not the whole tag", selection: image.Selection{Semver: ">=1", Filter: `v(?P<version>\d.*)`}, tag: "v2.1.0", version: "2.1.0"},
		{name: "any case", selection: image.Selection{Semver: ">=1", Filter: `(?i)^rel(?P<version>.+)$`}, tag: "REL2.1.0", version: "2.1.0"},
		{name: "filter without a group", selection: image.Selection{Semver: ">=1", Filter: `^v`}, tag: "v2.1.0", version: "v2.1.0", back: true},
		{name: "chart", selection: image.Selection{Semver: ">=1", Chart: true}, tag: "2.1.0_build.7", version: "2.1.0+build.7", back: true},
		{name: "numbers", selection: image.Selection{Numeric: `^build-(?P<version>\d+)$`}, tag: "build-0081", version: "0081", back: true},
		{name: "releases", selection: image.Selection{Release: "github.com/acme/web"}, tag: "v2.1.0", version: "v2.1.0", back: true},
		{name: "not selected", selection: image.Selection{Semver: ">=1", Filter: `^v`}, tag: "2.1.0"},
		{name: "moving", selection: image.Selection{Tag: "main"}, tag: "main"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			policy, err := image.NewPolicy(test.selection)
			if err != nil {
				t.Fatal(err)
			}
			if got := policy.VersionOf(test.tag); got != test.version {
				t.Errorf("version %q, want %q", got, test.version)
			}
			if tag, back := policy.TagOf(test.version); back != test.back || back && tag != test.tag {
				t.Errorf("back to %q, %t; want %t", tag, back, test.back)
			}
		})
	}
}

func TestPolicy_Named_keepsWhatThePolicyDoesNotKnow(t *testing.T) {
	t.Parallel()
	moving, err := image.NewPolicy(image.Selection{Tag: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if got := moving.Named(image.Version{Tag: "main", Version: "2.1.0"}); got.Version != "2.1.0" {
		t.Errorf("moving: %q", got.Version)
	}
	var none *image.Policy
	if got := none.Named(image.Version{Tag: "v2", Version: "other"}); got.Version != "v2" {
		t.Errorf("no policy: %q", got.Version)
	}
}
