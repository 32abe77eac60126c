package image

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustPolicy(t testing.TB, s Selection) *Policy {
	t.Helper()
	p, err := NewPolicy(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tagsOf(c Candidates) []string {
	tags := make([]string, len(c.Ordered))
	for i := range c.Ordered {
		tags[i] = c.Ordered[i].Tag
	}
	return tags
}

func TestPolicy_Candidates(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("0f", 32)
	for _, test := range []struct {
		name              string
		selection         Selection
		tags              string
		want              string
		skipped, excluded int
	}{
		{
			name: "range with and without v", selection: Selection{Semver: ">=1.4 <2"},
			tags: "1.3.9 v1.4.0 1.5.0 v1.10.0 2.0.0 V1.6.0", want: "v1.10.0 1.5.0 v1.4.0", skipped: 1, excluded: 2,
		},
		{name: "range written with v", selection: Selection{Semver: ">=v1.4"}, tags: "1.4.0 v1.3.0", want: "1.4.0", excluded: 1},
		{
			name: "prerelease only when the range names one", selection: Selection{Semver: ">=1.4"},
			tags: "1.4.0 1.5.0-rc.1", want: "1.4.0", excluded: 1,
		},
		{
			name: "prerelease named by the range", selection: Selection{Semver: ">=1.4.0-0"},
			tags: "1.4.0 1.5.0-rc.2 1.5.0-rc.10 1.5.0-alpha 1.5.0-rc.1.x", want: "1.5.0-rc.10 1.5.0-rc.2 1.5.0-rc.1.x 1.5.0-alpha 1.4.0",
		},
		{
			name: "precedence of semver.org", selection: Selection{Semver: ">=1.0.0-0"},
			tags: "1.0.0-alpha.beta 1.0.0 1.0.0-beta.11 1.0.0-alpha 1.0.0-rc.1 1.0.0-beta.2 1.0.0-alpha.1 1.0.0-beta",
			want: "1.0.0 1.0.0-rc.1 1.0.0-beta.11 1.0.0-beta.2 1.0.0-beta 1.0.0-alpha.beta 1.0.0-alpha.1 1.0.0-alpha",
		},
		{
			name: "build metadata of a chart, which a tag writes with an underscore", selection: Selection{Semver: "^1", Chart: true},
			tags: "1.2.3_build.2 1.2.3_build.10 1.2.3 1.2.2_z 1.2.3_", want: "1.2.3 1.2.3_build.10 1.2.3_build.2 1.2.2_z", skipped: 1,
		},
		{
			name: "an underscore in the tag of an image, here of another OS", selection: Selection{Semver: "^1"},
			tags: "1.2.3 1.2.4_windows 1.3.0-rc.1_x", want: "1.2.3", skipped: 2,
		},
		{
			name: "an underscore through a filter", selection: Selection{Semver: "^1", Filter: `^(?P<version>[0-9.]+_[0-9]+)-jre$`},
			tags: "1.2.3_9-jre 1.2.3_10-jre 1.2.4_1-jdk", want: "1.2.3_10-jre 1.2.3_9-jre", excluded: 1,
		},
		{
			name: "an underscore through a filter without a group", selection: Selection{Semver: "^1", Filter: `_[0-9]+$`},
			tags: "1.2.3_9 1.2.3_10 1.2.4_windows", want: "1.2.3_10 1.2.3_9", excluded: 1,
		},
		{
			name: "git describe, by the number of commits after its tag", selection: Selection{Semver: ">=3.0.0-0"},
			tags: "v3.10.0-17-gabc1234 v3.10.0-169-g0123abc v3.10.0 v3.10.0-rc.1 v3.10.0-rc.1-4-gdef5678 v3.10.0-rc.2 v3.9.9-2000-gabcdef0 v3.10.1",
			want: "v3.10.1 v3.10.0-169-g0123abc v3.10.0-17-gabc1234 v3.10.0 v3.10.0-rc.2 v3.10.0-rc.1-4-gdef5678 v3.10.0-rc.1 v3.9.9-2000-gabcdef0",
		},
		{
			name: "git describe is a prerelease for the range", selection: Selection{Semver: ">=3"},
			tags: "v3.10.0 v3.10.0-17-gabc1234", want: "v3.10.0", excluded: 1,
		},
		{
			name: "git describe of a tag itself, and of two branches", selection: Selection{Semver: ">=3.0.0-0"},
			tags: "v3.10.0-0-gabc1234 v3.10.0 v3.10.0-1-gabc1234 v3.10.0-1-gabc1235", want: "v3.10.0-1-gabc1235 v3.10.0-1-gabc1234 v3.10.0 v3.10.0-0-gabc1234",
		},
		{
			name: "what only resembles git describe is a prerelease", selection: Selection{Semver: ">=3.0.0-0"},
			tags: "3.1.0 3.1.0-17-gxyz1234 3.1.0-17-gab 3.1.0-17-gabc1234-dirty 3.1.0-g1234567 3.1.0-x-g1234567",
			want: "3.1.0 3.1.0-x-g1234567 3.1.0-g1234567 3.1.0-17-gxyz1234 3.1.0-17-gabc1234-dirty 3.1.0-17-gab",
		},
		{
			name: "git describe through a filter", selection: Selection{Semver: ">=3.0.0-0", Filter: `^(?P<version>.*)-amd64$`},
			tags: "v3.1.0-9-gabc1234-amd64 v3.1.0-10-gabc1234-amd64 v3.1.0-amd64", want: "v3.1.0-10-gabc1234-amd64 v3.1.0-9-gabc1234-amd64 v3.1.0-amd64",
		},
		{name: "four parts are no version by themselves", selection: Selection{Semver: "*"}, tags: "1.2.3.4 1.2.3", want: "1.2.3", skipped: 1},
		{
			name: "four parts through a filter", selection: Selection{Semver: "^1", Filter: `^release-(?P<version>.*)$`},
			tags: "release-1.2.3.4 release-1.2.3.10 release-1.2.3 1.9.0 release-2.0.0.0", want: "release-1.2.3.10 release-1.2.3.4 release-1.2.3", excluded: 2,
		},
		{name: "calendar versions", selection: Selection{Semver: ">=2024"}, tags: "2024.01.15 2024.1.9 2023.12.31 2024.10.1", want: "2024.10.1 2024.01.15 2024.1.9", excluded: 1},
		{name: "years beside dotted versions", selection: Selection{Semver: ">=1"}, tags: "2024 v2025 1.2.3 16 999", want: "999 16 1.2.3", excluded: 2},
		{name: "years beside dotted versions out of the range", selection: Selection{Semver: ">=1000"}, tags: "2024 1.2.3", excluded: 2},
		{name: "years beside excluded versions", selection: Selection{Semver: ">=1", Exclude: []string{`\.`}}, tags: "2024 1.2.3", want: "2024", excluded: 1},
		{name: "only years", selection: Selection{Semver: ">=1"}, tags: "2023 2024 16", want: "2024 2023 16"},
		{name: "years beside dotted versions through a filter", selection: Selection{Semver: ">=1", Filter: `^[0-9.]+$`}, tags: "2024 1.2.3", want: "2024 1.2.3"},
		{name: "one long number is a date or a commit", selection: Selection{Semver: ">=1"}, tags: "20240115 1234567 16 v2024", want: "v2024 16", skipped: 2},
		{name: "one long number through a filter", selection: Selection{Semver: ">=1", Filter: `^r(?P<version>\d+)$`}, tags: "r20240115 r20240116 r1", want: "r20240116 r20240115 r1"},
		{name: "variants are prereleases", selection: Selection{Semver: "^1"}, tags: "1.2.3-alpine 1.2.3", want: "1.2.3", excluded: 1},
		{name: "variant through a filter", selection: Selection{Semver: "^1", Filter: `^(?P<version>.+)-alpine$`}, tags: "1.2.3-alpine 1.2.4 1.10.0-alpine", want: "1.10.0-alpine 1.2.3-alpine", excluded: 1},
		{name: "more precise spelling first", selection: Selection{Semver: "*"}, tags: "1.20 v1.20.0 1.20.0 1 1.0 1.0.0 01.20.0", want: "01.20.0 1.20.0 v1.20.0 1.20 1.0.0 1.0 1"},
		{
			name: "what does not parse is skipped and counted", selection: Selection{Semver: "*"},
			tags: "1.0.0 latest 1.x main-abc 1..2 1.0.0-rc..1 1.0.0-ä v 99999999999999999999.0.0 1.0.0p -1", want: "1.0.0", skipped: 10,
		},
		{
			name: "attachments are no candidates", selection: Selection{Alphabetical: ".*"},
			tags: "sha256-" + hex + ".sig sha256-" + hex + ".att sha256-" + hex + ".sbom sha256-" + hex + " sha512-" + hex + " sha256-" + hex + ".sigstore v1.sig sha256-abc a sha256-" + hex + "0",
			want: "sha256-abc sha256-" + hex + "0 a", excluded: 7,
		},
		{name: "exclude", selection: Selection{Semver: "*", Exclude: []string{`^1\.2\.`, `3$`}}, tags: "1.2.0 1.1.0 1.1.3 1.0.0", want: "1.1.0 1.0.0", excluded: 2},
		{name: "numeric", selection: Selection{Numeric: `^build-(?P<version>\d+)$`}, tags: "build-9 build-10 build-010 build-x main-11", want: "build-010 build-10 build-9", excluded: 2},
		{name: "numeric of any length", selection: Selection{Numeric: `^\d+$`}, tags: "99999999999999999999998 99999999999999999999999 1", want: "99999999999999999999999 99999999999999999999998 1"},
		{name: "numeric with fractions", selection: Selection{Numeric: `.*`}, tags: "1.5 1.25 0.9 1.10 1.1 2. 1.2.3 x", want: "1.5 1.25 1.1 1.10 0.9", skipped: 3},
		{name: "numeric reads no sign", selection: Selection{Numeric: `main(?P<version>.*)`}, tags: "main-15 main16", want: "main16", skipped: 1},
		{name: "alphabetical", selection: Selection{Alphabetical: `^RELEASE\.(?P<version>.*)$`}, tags: "RELEASE.2024-01-02 RELEASE.2024-01-10 latest", want: "RELEASE.2024-01-10 RELEASE.2024-01-02", excluded: 1},
		{name: "alphabetical without a group compares the whole tag", selection: Selection{Alphabetical: `[0-9]$`}, tags: "b1 a2 c", want: "b1 a2", excluded: 1},
		{name: "a group that took no part", selection: Selection{Alphabetical: `^a(?P<version>b)?`}, tags: "a ab", want: "ab", excluded: 1},
		{name: "an empty group", selection: Selection{Alphabetical: `^a(?P<version>b*)`}, tags: "a ab", want: "ab", skipped: 1},
		{name: "newest is ordered by tag until the times are known", selection: Selection{Newest: `^main-`}, tags: "main-a main-c main-b dev", want: "main-c main-b main-a", excluded: 1},
		{name: "tag", selection: Selection{Tag: "released"}, tags: "1.0 released latest", want: "released", excluded: 2},
		{name: "release has no candidates of its own", selection: Selection{Release: "github.com/acme/web"}, tags: "1.0", want: "", excluded: 1},
		{name: "doubled tags are one", selection: Selection{Semver: "*"}, tags: "1.0.0 1.0.0 2.0.0 1.0.0", want: "2.0.0 1.0.0"},
		{name: "no tags", selection: Selection{Semver: "*"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := mustPolicy(t, test.selection).Candidates(strings.Fields(test.tags))
			if diff := cmp.Diff(strings.Fields(test.want), tagsOf(got)); diff != "" {
				t.Error(diff)
			}
			if got.Skipped != test.skipped || got.Excluded != test.excluded {
				t.Errorf("skipped %d and excluded %d, want %d and %d", got.Skipped, got.Excluded, test.skipped, test.excluded)
			}
		})
	}
}

func TestPolicy_Candidates_version(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		selection    Selection
		tag, version string
	}{
		{Selection{Semver: "*", Chart: true}, "v1.2.3_b1", "v1.2.3+b1"},
		{Selection{Semver: "*", Filter: "b"}, "v1.2.3_b1", "v1.2.3+b1"},
		{Selection{Semver: "*", Filter: `^web-(?P<version>.*)$`}, "web-1.2.3", "1.2.3"},
		{Selection{Numeric: `^b(?P<version>\d+)`}, "b12-x", "12"},
		{Selection{Newest: `^main-(?P<version>.*)$`}, "main-a_b", "a_b"},
		{Selection{Tag: "released"}, "released", "released"},
	} {
		got := mustPolicy(t, test.selection).Candidates([]string{test.tag})
		if diff := cmp.Diff([]Candidate{{Tag: test.tag, Version: test.version}}, got.Ordered); diff != "" {
			t.Error(diff)
		}
	}
}

func TestPolicy_orderDoesNotDependOnTheRegistry(t *testing.T) {
	t.Parallel()
	tags := strings.Fields("1.20 1.20.0 v1.20 v1.20.0 1.20.0_a 1.20.0_b 1.20.0-rc1 1.20-rc1 v1.20.0-rc1 01.20 1.020.0 1.20.0-1-gabcd 1.20-1-gabcd 1.20.0-1-gabce 2024")
	random := rand.New(rand.NewPCG(1, 2))
	for _, selection := range []Selection{{Semver: ">=1.0.0-0"}, {Semver: ">=1.0.0-0", Chart: true}, {Numeric: ".*"}, {Alphabetical: `^(?P<version>..)`}, {Newest: ".*"}} {
		policy := mustPolicy(t, selection)
		want := policy.Candidates(tags)
		for range 50 {
			random.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
			if diff := cmp.Diff(want, policy.Candidates(tags)); diff != "" {
				t.Fatalf("%+v: %s", selection, diff)
			}
		}
	}
}

func TestPolicy_Compare(t *testing.T) {
	t.Parallel()
	at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, test := range []struct {
		name         string
		selection    Selection
		newer, older Version
		known        bool
	}{
		{"semver", Selection{Semver: "*"}, Version{Tag: "1.10.0"}, Version{Tag: "v1.9.0"}, true},
		{"outside of the range", Selection{Semver: "^1"}, Version{Tag: "2.0.0"}, Version{Tag: "1.9.0"}, true},
		{"excluded", Selection{Semver: "^1", Exclude: []string{"5"}}, Version{Tag: "1.5.0"}, Version{Tag: "1.4.0"}, true},
		{"prerelease", Selection{Semver: "^1"}, Version{Tag: "1.5.0"}, Version{Tag: "1.5.0-rc.1"}, true},
		{"git describe", Selection{Semver: "*"}, Version{Tag: "v1.5.0-17-gabc1234"}, Version{Tag: "v1.5.0-3-gabc1234"}, true},
		{"git describe and its tag, which a range without prereleases selects", Selection{Semver: "*"}, Version{Tag: "v1.5.0-17-gabc1234"}, Version{Tag: "v1.5.0"}, true},
		{"the tag after git describe", Selection{Semver: "*"}, Version{Tag: "v1.5.1"}, Version{Tag: "v1.5.0-17-gabc1234"}, true},
		{"a year and a dotted version", Selection{Semver: "*"}, Version{Tag: "2024"}, Version{Tag: "1.2.3"}, false},
		{"two years", Selection{Semver: "*"}, Version{Tag: "2024"}, Version{Tag: "2023"}, true},
		{"an image of another OS", Selection{Semver: "*"}, Version{Tag: "1.5.0_windows"}, Version{Tag: "1.4.0"}, false},
		{"a chart's version, written with a plus", Selection{Semver: "^1", Chart: true}, Version{Tag: "1.5.0+b2"}, Version{Tag: "1.5.0_b1"}, true},
		{"the other spelling", Selection{Semver: "*"}, Version{Tag: "1.20.0"}, Version{Tag: "1.20"}, true},
		{"a partial list never looks newer", Selection{Semver: "*"}, Version{Tag: "1.20.0"}, Version{Tag: "1.19.9"}, true},
		{"no version", Selection{Semver: "*"}, Version{Tag: "latest"}, Version{Tag: "1.0.0"}, false},
		{"no tag", Selection{Semver: "*"}, Version{Digest: "sha256:x", Version: "2.0.0"}, Version{Tag: "1.0.0"}, false},
		{"another series", Selection{Semver: "*", Filter: "-alpine$"}, Version{Tag: "2.0.0"}, Version{Tag: "1.0.0-alpine"}, false},
		{"numeric", Selection{Numeric: `^b(?P<version>\d+)$`}, Version{Tag: "b10"}, Version{Tag: "b9"}, true},
		{"alphabetical", Selection{Alphabetical: ".*"}, Version{Tag: "b"}, Version{Tag: "a"}, true},
		{"newest", Selection{Newest: "^main-"}, Version{Tag: "a", Created: at(2026)}, Version{Tag: "b", Created: at(2025)}, true},
		{"newest, made at the same time", Selection{Newest: "^main-"}, Version{Tag: "main-b", Created: at(2026)}, Version{Tag: "main-a", Created: at(2026)}, true},
		{"newest, stamped 1980", Selection{Newest: "^main-"}, Version{Tag: "main-a", Created: at(2026)}, Version{Tag: "main-b", Created: at(1980)}, false},
		{"newest, unknown", Selection{Newest: "^main-"}, Version{Tag: "main-a", Created: at(2026)}, Version{Tag: "main-b"}, false},
		{"a moving tag is ordered by its publisher", Selection{Tag: "released"}, Version{Tag: "released"}, Version{Tag: "released"}, false},
		{"release", Selection{Release: "github.com/acme/web"}, Version{Tag: "2"}, Version{Tag: "1"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := mustPolicy(t, test.selection)
			forth, ok := p.Compare(test.newer, test.older)
			back, again := p.Compare(test.older, test.newer)
			if ok != test.known || again != test.known {
				t.Fatalf("known is %v and %v, want %v", ok, again, test.known)
			}
			if test.known && (forth <= 0 || back >= 0) {
				t.Errorf("got %d and %d", forth, back)
			}
			if same, ok := p.Compare(test.newer, test.newer); ok && same != 0 {
				t.Errorf("a version differs from itself: %d", same)
			}
		})
	}
}

func TestPolicy_DifferentReleases(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		selection Selection
		a, b      string
		want      bool
	}{
		{Selection{Semver: "*"}, "1.4.0", "1.5.0", true},
		{Selection{Semver: "*"}, "v1.4.0", "1.4.0", false},
		{Selection{Semver: "*"}, "1.4", "1.5.0", true},
		{Selection{Semver: "*"}, "1.5", "1.5.3", false},
		{Selection{Semver: "*"}, "1", "1.5.3", false},
		{Selection{Semver: "*"}, "1.5.0-rc.1", "1.5.0", false},
		{Selection{Semver: "*"}, "1.5.0", "1.5.0-3-gabc1234", false},
		{Selection{Semver: "*"}, "stable", "1.5.0", false},
		{Selection{Semver: "*", Filter: `^(?P<version>[0-9.]+)-alpine$`}, "1.4.0-alpine", "1.5.0-alpine", true},
		{Selection{Semver: "*", Filter: `^(?P<version>[0-9.]+)-alpine$`}, "1.4.0", "1.5.0-alpine", false},
		{Selection{Numeric: ".*"}, "9", "10", true},
		{Selection{Alphabetical: "^2"}, "2026-01-02", "2026-01-03", true},
		{Selection{Alphabetical: "^2"}, "stable", "2026-01-03", false},
		{Selection{Newest: ".*"}, "a", "b", false},
		{Selection{Tag: "stable"}, "stable", "stable", false},
	} {
		p := mustPolicy(t, test.selection)
		if got := p.DifferentReleases(Version{Tag: test.a}, Version{Tag: test.b}); got != test.want {
			t.Errorf("%+v: %s and %s: %v", test.selection, test.a, test.b, got)
		}
	}
}

func TestKnownCreated_rejectsPlaceholderTimes(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]bool{
		"1970-01-01T00:00:00Z": false, "1980-01-01T00:00:01Z": false, "1989-12-31T23:59:59Z": false,
		"1990-01-01T00:30:00+01:00": false, "1990-01-01T00:00:00Z": true, "2026-01-01T00:00:00Z": true,
	} {
		created, err := time.Parse(time.RFC3339, stamp)
		if err != nil {
			t.Fatal(err)
		}
		if got := KnownCreated(created); got != want {
			t.Errorf("%s: %v", stamp, got)
		}
	}
	if KnownCreated(time.Time{}) {
		t.Error("the zero time is known")
	}
}

func TestPolicy_strategies(t *testing.T) {
	t.Parallel()
	moving := mustPolicy(t, Selection{Tag: "released"})
	if tag, ok := moving.Moving(); !ok || tag != "released" || moving.NeedsCreated() {
		t.Errorf("moving: %s, %v", tag, ok)
	}
	release := mustPolicy(t, Selection{Release: "gitlab.com/acme/group/web"})
	if source, ok := release.Release(); !ok || source != "gitlab.com/acme/group/web" {
		t.Errorf("release: %s, %v", source, ok)
	}
	newest := mustPolicy(t, Selection{Newest: ".*"})
	_, isMoving := newest.Moving()
	_, isRelease := newest.Release()
	if !newest.NeedsCreated() || isMoving || isRelease {
		t.Error("newest is not told apart")
	}
}

func TestStrayGroup(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string][2]string{
		`^v(?P<ver>\d+)$`:              {"ver", `^v(\d+)$`},
		`^(?<major>\d+)-(?P<b>x)`:      {"major", `^(\d+)-(x)`},
		`^(?P<version>.+)-(?P<arch>a)`: {"", `^(?P<version>.+)-(?P<arch>a)`},
		`^v(.+)$`:                      {"", `^v(.+)$`},
		`(`:                            {"", `(`},
	} {
		if got := StrayGroup(pattern); got != want[0] {
			t.Errorf("%s: %q, want %q", pattern, got, want[0])
		}
		if got := (Selection{Semver: "*", Filter: pattern}).WithoutStrayGroups().Filter; got != want[1] {
			t.Errorf("%s: became %s, want %s", pattern, got, want[1])
		}
	}
}

func TestPolicy_unselected(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		selection  Selection
		tags, want string
	}{
		{Selection{Semver: ">=1"}, "1.5.0-rc.1 1.5.0-rc.2", `2 tags, such as 1.5.0-rc.2: it is a prerelease, and select.semver ">=1" names none`},
		{Selection{Semver: ">=1 <2"}, "2.0.0-rc.1 0.9.0", `2 tags, such as 2.0.0-rc.1: it is outside of select.semver ">=1 <2"`},
		{Selection{Semver: ">=1"}, "main 1.40.0.7998 20240115", "2 tags, such as 20240115: it is not a version of select.semver, unless a select.filter takes it, such as " +
			"^(?P<version>.+)$; main: it is not a version of select.semver"},
		{Selection{Semver: ">=1", Filter: `^v(?P<version>.+)$`}, "1.0.0 vx", "vx: it is not a version of select.semver; 1.0.0: select.filter does not match it"},
		{Selection{Semver: ">=1"}, "2024 0.1.0", `2024: it is one number, and other tags have several; 0.1.0: it is outside of select.semver ">=1"`},
		{Selection{Numeric: `^b\d+$`, Exclude: []string{"^b1$"}}, "b1 c", "b1: select.exclude matches it; c: select.numeric does not match it"},
		{Selection{Newest: "^main-"}, "sha256-" + strings.Repeat("a", 64) + ".sig \x1b[2J", "sha256-" + strings.Repeat("a", 64) +
			".sig: it is a signature, an attestation, or an SBOM; [2J: it is not a valid tag"},
	} {
		p, err := NewPolicy(test.selection)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Unselected(strings.Split(test.tags, " ")); got != test.want {
			t.Errorf("%+v of %q:\n%s\nwant\n%s", test.selection, test.tags, got, test.want)
		}
	}
}

func TestNewPolicy_refuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 1025)
	for _, test := range []struct {
		selection Selection
		want      string
	}{
		{Selection{}, "nothing is selected"},
		{Selection{Filter: "x"}, "nothing is selected"},
		{Selection{Semver: "*", Tag: "x"}, "both semver and tag are set"},
		{Selection{Numeric: "x", Release: "y"}, "both numeric and release are set"},
		{Selection{Semver: "not a range"}, "is not a range"},
		{Selection{Semver: long}, "longer than 1024"},
		{Selection{Semver: ">=2 <1"}, `no version can be in the range ">=2 <1"`},
		{Selection{Semver: "*", Filter: "("}, "filter: "},
		{Selection{Semver: "*", Filter: long}, "longer than 1024"},
		{Selection{Newest: ".*", Filter: "x"}, "only for semver"},
		{Selection{Tag: "x", Exclude: []string{"["}}, "exclude: "},
		{Selection{Tag: ".x"}, "tag is not valid"},
		{Selection{Newest: "("}, "newest: "},
		{Selection{Numeric: long}, "longer than 1024"},
		{Selection{Alphabetical: `(?P<version>a)(?P<version>b)`}, "two groups"},
		{Selection{Release: "acme/web"}, "FORGE/OWNER/REPO"},
		{Selection{Release: "github.com//web"}, "FORGE/OWNER/REPO"},
		{Selection{Release: "github.com/acme/ web"}, "FORGE/OWNER/REPO"},
		{Selection{Release: "github.com/acme/w\x00eb"}, "FORGE/OWNER/REPO"},
		{Selection{Release: "github.com/../user"}, "FORGE/OWNER/REPO"},
	} {
		_, err := NewPolicy(test.selection)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.selection, err, test.want)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add(">=1.4.0-0", "", `^(?P<version>[0-9.]+)`, "1.20 1.20.0 v1.20.0-rc.1 1.2.3_b latest")
	f.Add(">=1.0.0-0", "", ".*", "1.2.3-17-gabcd 1.2.3-9-gabcd 1.2.3 1.2-0-gabcd 2024 1.2.3-rc.1-1-gabcd")
	f.Add("*", `^(?P<version>.*)$`, ".*", "1.2.3.4 1.2.3.04 20240115 00 0 0.0")
	f.Fuzz(func(t *testing.T, within, filter, expression, list string) {
		tags := strings.Fields(list)
		for _, selection := range []Selection{
			{Semver: within, Filter: filter}, {Semver: within, Chart: true}, {Numeric: expression}, {Alphabetical: expression}, {Newest: expression},
		} {
			policy, err := NewPolicy(selection)
			if err != nil {
				continue
			}
			got := policy.Candidates(tags)
			reversed := slices.Clone(tags)
			slices.Reverse(reversed)
			if diff := cmp.Diff(got, policy.Candidates(reversed)); diff != "" {
				t.Fatalf("the order of the registry decides: %s", diff)
			}
			if len(got.Ordered)+got.Skipped+got.Excluded > len(tags) {
				t.Fatalf("%d tags became %+v", len(tags), got)
			}
			checkTotal(t, policy, tagsOf(got))
		}
	})
}

// checkTotal checks that earlier tags are greater than all later ones.
func checkTotal(t *testing.T, policy *Policy, ordered []string) {
	t.Helper()
	if policy.NeedsCreated() {
		return
	}
	ordered = ordered[:min(len(ordered), 20)]
	for i := range ordered {
		for j := range ordered[:i] {
			order, ok := policy.Compare(Version{Tag: ordered[j]}, Version{Tag: ordered[i]})
			if !ok || order <= 0 {
				t.Fatalf("%q and %q: %d, %v", ordered[j], ordered[i], order, ok)
			}
		}
	}
}

func TestUpdateOf(t *testing.T) {
	t.Parallel()
	for versions, want := range map[[2]string]Update{
		{"1.4.1", "1.4.2"}: Patch, {"v1.4.1", "1.5.0"}: Minor, {"1.9", "2.0"}: Major, {"1.4.2", "1.4.1"}: Downgrade,
		{"1.4.1-alpine", "1.4.2-alpine"}: Patch, {"1.4.1_b1", "1.4.1_b2"}: Other, {"1.5.0", "1.5.0-3-gabc1234"}: Other, {"1.5.0-rc.1", "1.5.0"}: Other,
		{"main-a1", "main-b2"}: Other, {"", "1.0.0"}: Other,
	} {
		if got := UpdateOf(versions[0], versions[1]); got != want {
			t.Errorf("%v: %s, want %s", versions, got, want)
		}
	}
}

func TestPolicy_NewerThan(t *testing.T) {
	t.Parallel()
	tags := []string{"1.4.0", "1.5.0", "1.6.0", "1.7.0-rc.1", "2.0.0", "2.1.0", "0.9.0", "latest", "v9", "sha256-aa.sig", "2026"}
	tests := []struct {
		name      string
		selection Selection
		selected  string
		want      string
	}{
		{"a range", Selection{Semver: ">=1 <2"}, "1.6.0", "v9: it is outside of select.semver \">=1 <2\", 2.1.0: it is outside of select.semver \">=1 <2\""},
		{"an exclude", Selection{Semver: ">=1", Exclude: []string{"^2", "^v"}}, "1.6.0", "v9: select.exclude matches it, 2.1.0: select.exclude matches it"},
		{"a filter", Selection{Semver: ">=1", Filter: `^(?P<version>1\..*)$`}, "1.6.0", "v9: select.filter does not match it, 2.1.0: select.filter does not match it"},
		{"an expression orders only what it matches", Selection{Alphabetical: `^1\.`, Exclude: []string{`^1\.7`}}, "1.6.0", "1.7.0-rc.1: select.exclude matches it"},
		{"a moving tag", Selection{Tag: "latest"}, "latest", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			policy, err := NewPolicy(test.selection)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range policy.NewerThan(test.selected, tags, 2) {
				got = append(got, one.Tag+": "+one.Reason)
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("%s\nwant %s", text, test.want)
			}
		})
	}
}
