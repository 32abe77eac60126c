package registry

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"promoter/internal/fault"
	"promoter/internal/image"
)

func TestSelect_strategies(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	old := f.push(t, "acme/web", built{created: day(3)}, "1.9.0", "build-9", "main-aaaaaaa", "r2026-01")
	fresh := f.push(t, "acme/web", built{created: day(5)}, "1.10.0", "build-10", "main-0000000", "r2026-02", "released")
	other := f.push(t, "acme/web", built{created: day(9)}, "2.0.0-rc.1", "latest", "sha256-"+strings.Repeat("a", 64)+".sig")
	c := newClient(t, Options{})
	for _, tc := range []struct {
		name   string
		s      image.Selection
		tag    string
		digest string
	}{
		{"semver", image.Selection{Semver: ">=1"}, "1.10.0", fresh},
		{"prerelease only when the range names one", image.Selection{Semver: ">=2.0.0-0"}, "2.0.0-rc.1", other},
		{"semver with a filter", image.Selection{Semver: ">=0", Filter: `^build-(?P<version>\d+)$`}, "build-10", fresh},
		{"tag", image.Selection{Tag: "released"}, "released", fresh},
		{"newest", image.Selection{Newest: "^main-"}, "main-0000000", fresh},
		{"newest of all, without signatures", image.Selection{Newest: "."}, "latest", other},
		{"numeric", image.Selection{Numeric: `^build-(?P<version>\d+)$`}, "build-10", fresh},
		{"alphabetical", image.Selection{Alphabetical: `^r\d{4}-\d\d$`}, "r2026-02", fresh},
		{"exclude", image.Selection{Semver: ">=1", Exclude: []string{`^1\.10`}}, "1.9.0", old},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := mustSelect(t, c.For("github.com/1"), Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, tc.s)})
			if !s.Found || s.Version.Tag != tc.tag || s.Version.Digest != tc.digest {
				t.Errorf("selected %+v, want %s@%s", s, tc.tag, tc.digest)
			}
		})
	}
}

// Without the metadata of a version, it costs the requests for its tag and digest. Where the
// metadata decides, it is requested.
func TestSelect_digestOnly(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(3)}, "1.9.0", "stable")
	for name, test := range map[string]struct {
		request  Request
		metadata bool
	}{
		"semver":               {Request{Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), DigestOnly: true}, false},
		"numeric":              {Request{Policy: mustPolicy(t, image.Selection{Numeric: `^1\.(?P<version>\d+)`}), DigestOnly: true}, false},
		"with platforms":       {Request{Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), DigestOnly: true, Platforms: []string{"linux/amd64"}}, true},
		"newest":               {Request{Policy: mustPolicy(t, image.Selection{Newest: "^1"}), DigestOnly: true}, true},
		"a moving tag":         {Request{Policy: mustPolicy(t, image.Selection{Tag: "stable"}), DigestOnly: true}, true},
		"semver with metadata": {Request{Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}, true},
	} {
		f.reset()
		test.request.Repository = f.repository(t, "acme/web")
		s := mustSelect(t, newClient(t, Options{}).For("a/1"), test.request)
		if !s.Found || s.Version.Digest != digest || s.Version.Created.IsZero() == test.metadata {
			t.Errorf("%s: selected %+v", name, s)
		}
		if got := f.count("GET", "/manifests/") > 0; got != test.metadata {
			t.Errorf("%s: the manifest was requested: %v", name, got)
		}
	}
}

// A repository may have charts and images. A version of another kind is no version of the
// component, however many there are.
func TestSelect_readsTheKind(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/shop", built{created: day(3)}, "1.1.0", "1.3.0")
	pushTo(t, f.host, authn.Anonymous, "acme/shop", artifact(t, helmConfig, `{"version":"1.2.0"}`, nil), "1.2.0", "1.4.0")
	for i := range maxEvaluated + 2 {
		f.push(t, "acme/many", built{created: day(3)}, fmt.Sprintf("2.%d.0", i))
	}
	pushTo(t, f.host, authn.Anonymous, "acme/many", artifact(t, helmConfig, `{"version":"1.0.0"}`, nil), "1.0.0")
	for _, tc := range []struct {
		name, repository string
		artifact         image.Artifact
		tag              string
	}{
		{"an image beside newer charts", "acme/shop", image.ArtifactImage, "1.3.0"},
		{"a chart", "acme/shop", image.ArtifactChart, "1.4.0"},
		{"any artifact", "acme/shop", image.ArtifactOther, "1.4.0"},
		{"a chart below many images", "acme/many", image.ArtifactChart, "1.0.0"},
	} {
		for _, digestOnly := range []bool{false, true} {
			r := Request{
				Repository: f.repository(t, tc.repository), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}),
				Artifact: tc.artifact, DigestOnly: digestOnly,
			}
			s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
			if !s.Found || s.Version.Tag != tc.tag || len(s.Ineligible) > 1 {
				t.Errorf("%s: selected %+v, want %s", tc.name, s, tc.tag)
			}
		}
	}
	f.reset()
	known := Request{
		Repository: f.repository(t, "acme/shop"), Policy: mustPolicy(t, image.Selection{Semver: ">=1 <1.4"}), Artifact: image.ArtifactImage,
		DigestOnly: true, Present: func(tag string) bool { return tag == "1.3.0" },
	}
	if s := mustSelect(t, newClient(t, Options{}).For("a/1"), known); s.Version.Tag != "1.3.0" || f.count("GET", "/manifests/") > 0 {
		t.Errorf("the files have it: selected %+v with %d requests", s, f.count("GET", "/manifests/"))
	}
	none := Request{
		Repository: f.repository(t, "acme/shop"), Policy: mustPolicy(t, image.Selection{Semver: ">1.3"}), Artifact: image.ArtifactImage,
	}
	if s := mustSelect(t, newClient(t, Options{}).For("a/1"), none); s.Found || !strings.Contains(s.Reason, "1.4.0: it is a Helm chart") {
		t.Errorf("only a chart: selected %+v", s)
	}
}

// A version may have a tag with and one without a leading v: both are spellings of it, if they have
// one digest.
func TestSelect_spellings(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(3)}, "v1.4.0", "1.4.0", "v1.5.0", "1.5.0", "1.5")
	f.push(t, "acme/other", built{created: day(3)}, "1.5.0")
	f.push(t, "acme/other", built{created: day(4)}, "v1.5.0")
	for repository, want := range map[string][]string{"acme/web": {"v1.5.0"}, "acme/other": nil} {
		s := mustSelect(t, newClient(t, Options{}).For("a/1"), Request{
			Repository: f.repository(t, repository), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}),
		})
		if diff := cmp.Diff(want, s.Spellings); s.Version.Tag != "1.5.0" || diff != "" {
			t.Errorf("%s: selected %+v (-want +got):\n%s", repository, s, diff)
		}
	}
}

func TestSelect_notesLexicalTraps(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(3)}, "1.0.1-rc9", "1.0.1-rc10")
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1.0.0-0"}),
	})
	if s.Version.Tag != "1.0.1-rc9" || !strings.HasPrefix(s.Note, "1.0.1-rc10 is older than 1.0.1-rc9") {
		t.Errorf("selected %+v", s)
	}
}

func TestSelect_noMatchingTag(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0", "what-is-this")
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=9"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	want := Selection{Skipped: 1, Reason: "none of 2 tags matches: what-is-this: it is not a version of select.semver; " +
		"1.0.0: it is outside of select.semver \">=9\""}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestSelect_countsUnparsedTags(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0", "nonsense", "more-nonsense")
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if !s.Found || s.Skipped != 2 {
		t.Errorf("selected %+v", s)
	}
}

func TestSelect_refusesReleasePolicies(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Release: "github.com/acme/web"})}
	if _, err := newClient(t, Options{}).For("a/1").Select(t.Context(), r); fault.KindOf(err) != fault.Invalid {
		t.Errorf("err = %v", err)
	}
}

func TestSelect_skipsVersionWithoutPlatform(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	both := []built{{platform: "linux/amd64", created: day(1)}, {platform: "linux/arm64/v8", created: day(1)}}
	f.pushIndex(t, "acme/web", nil, both, "1.0.0")
	lost := f.pushIndex(t, "acme/web", nil, both[:1], "1.1.0")
	f.push(t, "acme/web", built{platform: "linux/amd64", created: day(2)}, "1.2.0")
	r := Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}),
		Platforms: []string{"linux/amd64", "linux/arm64"},
	}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if !s.Found || s.Version.Tag != "1.0.0" {
		t.Fatalf("selected %+v", s)
	}
	if len(s.Ineligible) != 2 || s.Ineligible[1].Digest != lost || s.Ineligible[1].Reason != "no image for linux/arm64; there is linux/amd64" {
		t.Errorf("waiting = %+v", s.Ineligible)
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, s.Version.Platforms); diff != "" {
		t.Error(diff)
	}
}

func TestSelect_movingTagWithoutPlatform(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{platform: "linux/amd64", created: day(2)}, "released")
	r := Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Tag: "released"}),
		Platforms: []string{"windows/amd64"},
	}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if s.Found || len(s.Ineligible) != 1 || !strings.Contains(s.Reason, "no image for windows/amd64") {
		t.Errorf("selected %+v", s)
	}
}

func TestSelect_minAgeCountsFromFirstSeen(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	// Built long ago, as the publisher says: that proves nothing.
	digests := map[string]string{}
	for _, tag := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		digests[tag] = f.push(t, "acme/web", built{created: day(1).AddDate(-3, 0, 0)}, tag)
	}
	now := day(10)
	seen := map[string]time.Time{digests["1.0.0"]: now.Add(-2 * time.Hour), digests["1.1.0"]: now.Add(-10 * time.Minute)}
	r := Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), MinAge: time.Hour,
		FirstSeen: func(digest string) (time.Time, bool) { at, ok := seen[digest]; return at, ok },
	}
	c := newClient(t, Options{Now: func() time.Time { return now }})
	s := mustSelect(t, c.For("a/1"), r)
	if !s.Found || s.Version.Tag != "1.0.0" {
		t.Fatalf("selected %+v", s)
	}
	want := []Ineligible{
		{Tag: "1.2.0", Digest: digests["1.2.0"], Reason: "minAge 1h0m0s: seen now for the first time", Until: now.Add(time.Hour)},
		{Tag: "1.1.0", Digest: digests["1.1.0"], Reason: "minAge 1h0m0s: first seen 2026-01-09T23:50:00Z", Until: now.Add(50 * time.Minute)},
	}
	if diff := cmp.Diff(want, s.Ineligible); diff != "" {
		t.Error(diff)
	}
	t.Run("a FirstSeen in the future does not count", func(t *testing.T) {
		t.Parallel()
		r := r
		r.FirstSeen = func(string) (time.Time, bool) { return now.Add(time.Hour), true }
		if s := mustSelect(t, c.For("a/1"), r); s.Found {
			t.Errorf("selected %+v", s)
		}
	})
	t.Run("without FirstSeen no version is old enough", func(t *testing.T) {
		t.Parallel()
		r := r
		r.FirstSeen = nil
		s := mustSelect(t, c.For("a/1"), r)
		if s.Found || len(s.Ineligible) != 1 || !strings.Contains(s.Reason, "is not known here") {
			t.Errorf("selected %+v", s)
		}
	})
}

func TestSelect_movingTagHasDate(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(7)}, "released")
	older := f.push(t, "acme/web", built{created: day(2)}, "released")
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Tag: "released"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if !s.Found || s.Version.Digest != older || !s.Version.Created.Equal(day(2)) {
		t.Errorf("selected %+v", s)
	}
}

func TestSelect_skipsTagWithoutImage(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	p := &pager{tags: []string{"1.0.0"}, digest: digest}
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/tags/list") {
			(&pager{tags: []string{"1.0.0", "2.0.0"}, digest: digest}).list(w, r)
			return true
		}
		return p.serve(w, r)
	}
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if !s.Found || s.Version.Tag != "1.0.0" || len(s.Ineligible) != 1 || s.Ineligible[0].Reason != noImage {
		t.Errorf("selected %+v", s)
	}
}

func TestSelect_boundsEvaluatedVersions(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "0")
	f.answer = (&pager{tags: manyTags(100), digest: digest}).serve
	f.reset()
	r := Request{
		Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}),
		Platforms: []string{"plan9/mips"},
	}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if s.Found || !s.Incomplete || len(s.Ineligible) != maxEvaluated || f.count("HEAD") != maxEvaluated {
		t.Errorf("selected %+v after %d questions", s, f.count("HEAD"))
	}
}

func TestSelect_opaqueManifests(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.put(t, "acme/old", "1.0.0", string(types.DockerManifestSchema1Signed), `{"schemaVersion":1}`)
	r := Request{Repository: f.repository(t, "acme/old"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	c := newClient(t, Options{})
	if s := mustSelect(t, c.For("a/1"), r); !s.Found || s.Version.Tag != "1.0.0" || !s.Version.Created.IsZero() {
		t.Errorf("nothing else is wanted: selected %+v", s)
	}
	r.Platforms = []string{"linux/amd64"}
	if s := mustSelect(t, c.For("a/1"), r); s.Found || !strings.Contains(s.Reason, "schema 1") {
		t.Errorf("a platform is wanted: selected %+v", s)
	}
	chart := pushTo(t, f.host, authn.Anonymous, "acme/shop", artifact(t, helmConfig, `{"version":"1.0.0"}`, nil), "1.0.0")
	r.Repository = f.repository(t, "acme/shop")
	if s := mustSelect(t, c.For("a/1"), r); s.Found || s.Ineligible[0].Digest != chart || !strings.Contains(s.Reason, "there is none that it names") {
		t.Errorf("a chart has no platform: selected %+v", s)
	}
}

func TestSelect_indexWithMissingImage(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	both := []built{{platform: "linux/amd64", created: day(1)}, {platform: "linux/arm64", created: day(1)}}
	f.pushIndex(t, "acme/web", nil, both, "1.0.0")
	broken := indexOf(t, nil, both)
	if err := remote.WriteIndex(mustTag(t, f.host, "acme/web", "1.1.0"), broken); err != nil {
		t.Fatal(err)
	}
	manifest, err := broken.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		lost := strings.HasSuffix(r.URL.Path, manifest.Manifests[0].Digest.String())
		if lost {
			w.WriteHeader(http.StatusNotFound)
		}
		return lost
	}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), webRequest(t, f))
	if !s.Found || s.Version.Tag != "1.0.0" || len(s.Ineligible) != 1 || !strings.Contains(s.Ineligible[0].Reason, "linux/amd64") {
		t.Errorf("selected %+v", s)
	}
}

func TestSelect_missingMovingTag(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Tag: "released"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if s.Found || s.Reason != "released: "+noImage {
		t.Errorf("selected %+v", s)
	}
}
