package suggest

import (
	"slices"
	"strings"
	"testing"

	"promoter/internal/image"
)

func TestGuessSelection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		tags       string
		thirdParty bool
		want       image.Selection
	}{
		{"semantic versions", "1.4.2 1.5.0", false, image.Selection{Semver: ">=1.4.2 <2"}},
		{"with a v", "v1.4.2 v0.9.0", false, image.Selection{Semver: ">=0.9.0 <2"}},
		{"with two numbers", "1.4", false, image.Selection{Semver: ">=1.4 <2"}},
		{"prereleases", "1.4.2-rc.1 1.4.1", false, image.Selection{Semver: ">=1.4.1-0 <2-0"}},
		{"versions by date", "2024.1.2", false, image.Selection{Semver: ">=2024.1.2"}},
		{"a variant", "1.25-alpine 1.27.1-alpine", false, image.Selection{Semver: ">=1.25 <2", Filter: `^v?(?P<version>[0-9]+(\.[0-9]+){0,2})-alpine$`}},
		{"a major version of a variant", "16-alpine", false, image.Selection{Semver: ">=16 <17", Filter: `^v?(?P<version>[0-9]+(\.[0-9]+){0,2})-alpine$`}},
		{"a prefix", "web-1.2.3", false, image.Selection{Semver: ">=1.2.3 <2", Filter: `^web-v?(?P<version>[0-9]+(\.[0-9]+){1,2})$`}},
		{"a commit behind the version", "1.2.3-0a1b2c3", false, image.Selection{Semver: ">=1.2.3 <2", Filter: `^v?(?P<version>[0-9]+(\.[0-9]+){1,2})-[0-9a-f]{7,40}$`}},
		{"git describe", "v1.2.3-4-gabcdef0", false, image.Selection{Semver: ">=1.2.3-4 <2", Filter: `^v?(?P<version>[0-9]+(\.[0-9]+){2}-[0-9]+)-g[0-9a-f]{7,40}$`}},
		{"a number after an underscore", "17.0.2_8", false, image.Selection{Semver: ">=17.0.2 <18", Filter: `^v?(?P<version>[0-9]+(\.[0-9]+){1,2}_[0-9.]+)$`}},
		{"four numbers", "10.0.19041.1", false, image.Selection{Semver: ">=10.0.19041 <11", Filter: `^(?P<version>[0-9]+(\.[0-9]+){3})$`}},
		{"branch and commit", "main-0a1b2c3 main-fffffff", false, image.Selection{Newest: `^main-[0-9a-f]{7,}$`}},
		{"a commit", "0a1b2c3", false, image.Selection{Newest: `^[0-9a-f]{7,12}$`}},
		{"a whole commit", strings.Repeat("0a", 20), false, image.Selection{Newest: `^[0-9a-f]{40}$`}},
		{"branch, commit and time", "main-0a1b2c3-1717000000", false, image.Selection{Numeric: `^main-[0-9a-f]{7,40}-(?P<version>[0-9]{8,14})$`}},
		{"a time", "20240131 20240201", false, image.Selection{Numeric: `^[0-9]{8,14}$`}},
		{"branch and time", "main-20240131120000", false, image.Selection{Numeric: `^main-(?P<version>[0-9]{8,14})$`}},
		{"time and commit", "20240131-abc1234", false, image.Selection{Numeric: `^(?P<version>[0-9]{8,14})-[0-9a-f]{7,40}$`}},
		{"a date with dashes", "2024-01-31", false, image.Selection{Alphabetical: `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`}},
		{"a date and a time", "20240131-1200", false, image.Selection{Alphabetical: `^[0-9]{8}[-_.T][0-9]{4,6}Z?$`}},
		{"a word and a date", "RELEASE.2024-01-31T20-20-33Z", false, image.Selection{Alphabetical: `^RELEASE\.(?P<version>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9][0-9-]*Z)$`}},
		{"numbers of builds", "17 121", false, image.Selection{Numeric: `^[0-9]+$`}},
		{"a word and a number", "build-17", false, image.Selection{Numeric: `^build-(?P<version>[0-9]+)$`}},
		{"a branch and a number that could be a commit", "main-1234567", false, image.Selection{Numeric: `^main-(?P<version>[0-9]+)$`}},
		{"a number and a commit", "17-0a1b2c3", false, image.Selection{Numeric: `^(?P<version>[0-9]+)-[0-9a-f]{7,40}$`}},
		{"builds behind a version", "v0.14.541-ls61 v0.14.541-ls7", false, image.Selection{Newest: `^v?[0-9]+(\.[0-9]+){0,2}-ls[0-9]+$`}},
		{"a word beside a version", "1.7.1 latest latest", false, image.Selection{Semver: ">=1.7.1 <2"}},
		{"a moving tag", "latest latest", false, image.Selection{Tag: "latest"}},
		{"the major version of others", "7", true, image.Selection{Tag: "7"}},
		{"mixed: the commonest decides", "1.2.0 1.2.0 latest", false, image.Selection{Semver: ">=1.2.0 <2"}},
		{"no scheme", "feature/x_y feature_x-2y", false, image.Selection{Tag: "feature_x-2y"}},
		{"no tag at all", "", false, image.Selection{Tag: "latest"}},
		{"a signature is no version", "sha256-" + strings.Repeat("ab", 32) + ".sig", false, image.Selection{Tag: "latest"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tags := validTags(strings.Fields(test.tags))
			got := guessSelection(tags, tags, test.thirdParty)
			if !equalSelections(got.Selection, test.want) {
				t.Errorf("got %+v (%s)\nwant %+v", got.Selection, got.reason, test.want)
			}
		})
	}
}

func equalSelections(a, b image.Selection) bool {
	return a.Semver == b.Semver && a.Tag == b.Tag && a.Newest == b.Newest && a.Numeric == b.Numeric &&
		a.Alphabetical == b.Alphabetical && a.Filter == b.Filter && slices.Equal(a.Exclude, b.Exclude)
}

// TestGuessSelection_rootsDecide lets production lag behind and use another scheme.
func TestGuessSelection_rootsDecide(t *testing.T) {
	t.Parallel()
	got := guessSelection([]string{"main-0a1b2c3"}, []string{"main-0a1b2c3", "1.2.3"}, false)
	if got.Newest == "" {
		t.Errorf("got %+v", got.Selection)
	}
	got = guessSelection([]string{"2.0.0"}, []string{"2.0.0", "1.2.3", "0.1.0-alpine", "latest"}, false)
	if got.Semver != ">=1.2.3 <3" {
		t.Errorf("got %+v", got.Selection)
	}
}

// FuzzGuessSelection: whatever the tags are, the selection is valid.
func FuzzGuessSelection(f *testing.F) {
	for _, seed := range []string{"1.2.3 v1", "main-0a1b2c3", "latest", "20240131", "1.2.3-rc.1 1.2.3_4", "99999999999999999999.1.2", "v1.2.3-4-gabcdef0", "a.b-1.2.3"} {
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, thirdParty bool) {
		tags := validTags(strings.Fields(text))
		g := guessSelection(tags, tags, thirdParty)
		if _, err := image.NewPolicy(g.Selection); err != nil {
			t.Errorf("%q: %+v: %v", text, g.Selection, err)
		}
	})
}
