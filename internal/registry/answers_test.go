package registry

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"promoter/internal/image"
)

// An answer counts for its moment and earlier ones, whichever pass, client or
// process got it. A later moment has it asked for anew, once for all with the same
// right.
func TestSelect_answersCountForTheirMoment(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	folder, known := t.TempDir(), NewCache()
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	clock := time.Now()
	open := func(memories *Cache) *Client {
		return newClient(t, Options{CacheDir: folder, Cache: memories, Now: func() time.Time { return clock }})
	}
	selects := func(c *Client, asOf time.Time, want string, lists int) {
		t.Helper()
		f.reset()
		r.AsOf = asOf
		pass := c.Batch()
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				if s := mustSelect(t, pass.For(repositoryKey(fmt.Sprintf("a/%d", i))), r); s.Version.Tag != want {
					t.Errorf("selected %+v, want %s", s, want)
				}
			})
		}
		all.Wait()
		if got := f.count("tags/list"); got != lists || f.count("HEAD") != lists {
			t.Errorf("%d tag lists and %d digests were asked for, want %d each", got, f.count("HEAD"), lists)
		}
	}
	first := clock.Add(-time.Hour)
	c := open(known)
	selects(c, first, "1.0.0", 1)
	f.push(t, "acme/web", built{created: day(2)}, "1.1.0")
	selects(c, first, "1.0.0", 0)
	selects(open(known), first.Add(-time.Hour), "1.0.0", 0)
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	selects(open(nil), first, "1.0.0", 0)
	selects(open(known), first.Add(1), "1.1.0", 1)
	selects(open(known), first, "1.1.0", 0)
	clock = clock.Add(-3 * time.Hour)
	selects(open(known), first, "1.1.0", 1) // a moment that is to come was given out by a clock that was wrong
}

// A question of this pass alone is asked whatever is remembered, and is not
// remembered for others.
func TestResolve_asksWhateverIsRemembered(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0")
	web, moment := f.repository(t, "acme/web"), time.Now()
	c := newClient(t, Options{})
	r := Request{Repository: web, Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), AsOf: moment}
	before := mustSelect(t, c.For("a/1"), r).Version.Digest
	moved := f.push(t, "acme/web", built{created: day(2)}, "1.0.0")
	pass := c.Batch().For("a/1")
	found, err := pass.Resolve(t.Context(), image.Reference{Repository: web, Tag: "1.0.0"})
	if err != nil || found.Digest != moved {
		t.Errorf("the tag is at %s, %v; want %s", found.Digest, err, moved)
	}
	if again := mustSelect(t, pass, r).Version.Digest; again != before {
		t.Errorf("selected %s for the same moment, want %s", again, before)
	}
}

// A list that is not read to its end, and a failure, are asked for again for the
// same moment.
func TestSelect_onlyWholeAnswersCount(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for n := range 5 {
		f.push(t, "acme/web", built{created: day(1)}, fmt.Sprintf("1.%d.0", n))
	}
	c := newClient(t, Options{Limits: Limits{Tags: 2, PageSize: 2}})
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"}), AsOf: time.Now()}
	var passes int
	for passes = 1; passes < 10; passes++ {
		if s := mustSelect(t, c.For("a/1"), r); s.Found {
			break
		}
	}
	if passes < 2 || passes == 10 {
		t.Fatalf("found in pass %d", passes)
	}
	missing := Request{Repository: f.repository(t, "acme/none"), Policy: r.Policy, AsOf: r.AsOf}
	for range 2 {
		f.reset()
		if _, err := c.For("a/1").Select(t.Context(), missing); err == nil || f.count("tags/list") != 1 {
			t.Errorf("%d questions about what failed: %v", f.count("tags/list"), err)
		}
	}
}

// Of many dated images another slice is asked again for each moment, and none twice
// for one.
func TestSelect_oneSliceForEachMoment(t *testing.T) {
	t.Parallel()
	f, images := newFake(t), map[string]built{}
	for n := range 120 {
		images[fmt.Sprintf("main-%d", n)] = built{created: day(1).Add(time.Duration(n) * time.Minute)}
	}
	f.pushEach(t, "acme/web", images)
	c := newClient(t, Options{})
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"}), AsOf: time.Now().Add(-time.Minute)}
	mustSelect(t, c.For("a/1"), r)
	for i, want := range []int{0, askBest + askOthers, 0} {
		if i == 1 {
			r.AsOf = r.AsOf.Add(1)
		}
		f.reset()
		mustSelect(t, c.For("a/1"), r)
		if got := f.count("HEAD"); got != want {
			t.Errorf("question %d asked for %d digests, want %d", i, got, want)
		}
	}
}

// What is not used any more leaves memory, and is in the folder.
func TestMemories_begin(t *testing.T) {
	t.Parallel()
	folder, known := t.TempDir(), NewCache()
	at := scope{credential: anonymousID, repository: mustRepository(t, "quay.io/acme/web")}
	known.of(at, Options{CacheDir: folder, ObserveCache: func(bool) {}}).setTags([]string{"1.0.0"}, time.Now())
	for range idleClients + 1 {
		known.begin()
	}
	if files, err := filepath.Glob(filepath.Join(folder, "registry", "*.json")); len(known.all) != 0 || err != nil || len(files) != 1 {
		t.Errorf("%d in memory, files %v: %v", len(known.all), files, err)
	}
}

// What a file says is taken only as far as it could be an answer.
func TestParseKept_answers(t *testing.T) {
	t.Parallel()
	at := scope{credential: anonymousID, repository: mustRepository(t, "quay.io/acme/web")}
	m := newCacheEntry(t.TempDir(), at)
	moment := time.Now()
	m.setTags([]string{"1.0.0"}, moment)
	m.setDigest("1.0.0", "sha256:"+fmt.Sprintf("%064d", 1), moment)
	if err := m.save(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	var spoiled map[string]any
	if err := json.Unmarshal(data, &spoiled); err != nil {
		t.Fatal(err)
	}
	spoiled["listed"].(map[string]any)["tags"] = []string{"1.0.0", "a/b"}
	spoiled["heads"] = map[string]any{"1.0.0": map[string]any{"digest": "sha256:0", "asOf": moment}}
	if data, err = json.Marshal(spoiled); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	again := newCacheEntry("", at)
	again.file = m.file
	when := validity{from: moment.Add(-1), to: moment.Add(time.Hour)}
	if _, ok := again.tags(when); ok {
		t.Error("a list with what is no tag is taken")
	}
	if _, ok := again.digest("1.0.0", when); ok {
		t.Error("what is no digest is taken")
	}
}

func mustRepository(t *testing.T, text string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
