package registry

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/image"
)

func TestNewest_requestsEachDigestOnce(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]string{"in one process": "", "in one process each": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for i := range 5 {
				f.push(t, "acme/web", built{created: day(i + 1)}, fmt.Sprintf("main-%d", 9-i))
			}
			f.reset()
			r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"})}
			for pass := range 3 {
				c := newClient(t, Options{CacheDir: folder})
				for range 2 {
					if s := mustSelect(t, c.For("a/1"), r); !s.Found || s.Version.Tag != "main-5" || !s.Version.Created.Equal(day(5)) {
						t.Fatalf("pass %d selected %+v", pass, s)
					}
				}
				if err := c.Flush(); err != nil {
					t.Fatal(err)
				}
				if folder == "" {
					break
				}
			}
			if got := f.count("GET", "/manifests/"); got != 5 {
				t.Errorf("%d manifests were read, want each of 5 once", got)
			}
			if got := f.count("GET", "/blobs/"); got != 5 {
				t.Errorf("%d configs were read, want each of 5 once", got)
			}
		})
	}
}

func TestNewest_usesDatesOfTheRequiredPlatform(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.pushIndex(t, "acme/web", map[string]string{keyCreated: "2026-01-30T00:00:00Z"}, []built{
		{platform: "linux/amd64", created: day(5)}, {platform: "linux/arm64", created: day(1)},
	}, "main-a")
	f.pushIndex(t, "acme/web", nil, []built{
		{platform: "linux/amd64", created: day(2)}, {platform: "linux/arm64", created: day(3)},
	}, "main-b")
	for platform, want := range map[string]string{"linux/amd64": "main-a", "linux/arm64": "main-b", "": "main-a"} {
		r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"})}
		if platform != "" {
			r.Platforms = []string{platform}
		}
		if s := mustSelect(t, newClient(t, Options{}).For("a/1"), r); !s.Found || s.Version.Tag != want {
			t.Errorf("for %q selected %+v, want %s", platform, s, want)
		}
	}
}

func TestNewest_ignoresFixedStamps(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: time.Unix(0, 0)}, "main-1970")
	f.push(t, "acme/web", built{created: time.Date(1980, 1, 1, 0, 0, 1, 0, time.UTC)}, "main-1980")
	f.push(t, "acme/web", built{}, "main-none")
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if s.Found || len(s.Ineligible) != 3 || !strings.Contains(s.Reason, "cannot be the newest") {
		t.Fatalf("selected %+v", s)
	}
	f.push(t, "acme/web", built{created: time.Unix(0, 0), annotations: map[string]string{keyCreated: "2026-01-04T00:00:00Z"}}, "main-annotated")
	f.push(t, "acme/web", built{created: day(2)}, "main-dated")
	s = mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if !s.Found || s.Version.Tag != "main-annotated" || len(s.Ineligible) != 3 {
		t.Errorf("an annotation tells the date that the config does not: selected %+v", s)
	}
}

func TestNewest_readsDatesInPortions(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := range 7 {
		f.push(t, "acme/web", built{created: day(7 - i)}, fmt.Sprintf("main-%d", i))
	}
	c := newClient(t, Options{Limits: Limits{Dates: 3}})
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"})}
	for _, left := range []string{"4 images", "1 images"} {
		if s := mustSelect(t, c.For("a/1"), r); s.Found || !s.Incomplete || !strings.Contains(s.Reason, left) {
			t.Fatalf("selected %+v, want %s left", s, left)
		}
	}
	if s := mustSelect(t, c.For("a/1"), r); !s.Found || s.Version.Tag != "main-0" {
		t.Errorf("selected %+v at the end", s)
	}
}

func TestNewest_noticesMovedTags(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(5)}, "main-a")
	f.push(t, "acme/web", built{created: day(1)}, "main-b")
	c := newClient(t, Options{})
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"})}
	if s := mustSelect(t, c.For("a/1"), r); s.Version.Tag != "main-a" {
		t.Fatalf("selected %+v", s)
	}
	fresh := f.push(t, "acme/web", built{created: day(9)}, "main-b")
	if s := mustSelect(t, c.For("a/1"), r); s.Version.Tag != "main-b" || s.Version.Digest != fresh {
		t.Errorf("selected %+v", s)
	}
}

func TestNewest_rechecksAllTagsInTurn(t *testing.T) {
	t.Parallel()
	var known []dated
	for i := range 1000 {
		known = append(known, dated{Candidate: image.Candidate{Tag: fmt.Sprint(i)}, created: day(1).Add(time.Duration(i) * time.Hour)})
	}
	asked, at := map[string]bool{}, &access{cache: newCacheEntry(NewCache(), "", scope{})}
	for range 1000/recheckOthers + 1 {
		picked := at.recheck(known, validity{})
		if len(picked) != recheckBest+recheckOthers || picked[0].Tag != "999" {
			t.Fatalf("%d are asked, first %s", len(picked), picked[0].Tag)
		}
		for _, p := range picked {
			asked[p.Tag] = true
		}
	}
	if len(asked) != 1000 {
		t.Errorf("%d of 1000 were asked in one round", len(asked))
	}
	if few := at.recheck(known[:100], validity{}); len(few) != 100 {
		t.Errorf("%d of 100 are asked", len(few))
	}
}

func TestNewest_skipsListedTagWithoutImage(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "main-a")
	p := &pager{tags: []string{"main-a", "main-b"}, digest: digest}
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/manifests/main-b") {
			return false // the registry itself says 404
		}
		return p.serve(w, r)
	}
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"})}
	s := mustSelect(t, newClient(t, Options{}).For("a/1"), r)
	if !s.Found || s.Version.Tag != "main-a" || !slices.ContainsFunc(s.Ineligible, func(b Ineligible) bool { return b.Tag == "main-b" && b.Reason == noImage }) {
		t.Errorf("selected %+v", s)
	}
}
