package registry

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/fault"
	"promoter/internal/image"
)

func TestBatch_sharesResponsesPerCredential(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "1.0.0", "1.1.0")
	f.reset()
	pass := newClient(t, Options{}).Batch()
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Semver: ">=1"})}
	var all sync.WaitGroup
	for _, key := range []string{"github.com/1", "github.com/2", "gitlab.com/3"} {
		for range 5 {
			all.Go(func() {
				s, err := pass.For(repositoryKey(key)).Select(t.Context(), r)
				if err != nil || s.Version.Tag != "1.1.0" {
					t.Errorf("selected %+v, %v", s, err)
				}
			})
		}
	}
	all.Wait()
	if lists, heads := f.count("tags/list"), f.count("HEAD"); lists != 1 || heads != 1 {
		t.Errorf("asked for %d lists and %d digests, want 1 and 1", lists, heads)
	}
	if manifests, configs := f.count("GET", "/manifests/"), f.count("GET", "/blobs/"); manifests != 1 || configs != 1 {
		t.Errorf("read %d manifests and %d configs, want 1 and 1", manifests, configs)
	}
	if pings := f.count("GET /v2/"); pings != f.count("GET /v2/acme")+1 {
		t.Errorf("%d pings", pings-f.count("GET /v2/acme"))
	}
}

func TestBatch_requestsTagsAgainInNextBatch(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "released")
	c := newClient(t, Options{})
	ref := image.Reference{Repository: f.repository(t, "acme/web"), Tag: "released"}
	pass := c.Batch()
	before, err := pass.For("a/1").Resolve(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	moved := f.push(t, "acme/web", built{created: day(2)}, "released")
	if same, err := pass.For("a/2").Resolve(t.Context(), ref); err != nil || same.Digest != before.Digest {
		t.Errorf("within the pass: %+v, %v", same, err)
	}
	if fresh, err := c.For("a/1").Resolve(t.Context(), ref); err != nil || fresh.Digest != moved {
		t.Errorf("in the next pass: %+v, %v", fresh, err)
	}
}

func TestBatch_sharesErrors(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	pass := newClient(t, Options{}).Batch()
	ref := image.Reference{Repository: f.repository(t, "acme/none"), Tag: "1"}
	for range 3 {
		if _, err := pass.For("a/1").Resolve(t.Context(), ref); fault.KindOf(err) != fault.NotFound {
			t.Fatalf("err = %v", err)
		}
	}
	if got := f.count("HEAD"); got != 1 {
		t.Errorf("asked %d times", got)
	}
}

func TestCache_brokenFilesAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "1")
	r := f.repository(t, "acme/web")
	for name, content := range map[string]string{
		"empty":                "",
		"cut":                  `{"version":3,"metadata":{"sha256:`,
		"not JSON":             "\x00\x01",
		"another version":      `{"version":99,"credential":"anonymous","repository":"` + r.String() + `","metadata":{"` + digest + `":{"version":"wrong"}}}`,
		"another credential's": `{"version":3,"credential":"other","repository":"` + r.String() + `","metadata":{"` + digest + `":{"version":"wrong"}}}`,
		"another repository's": `{"version":3,"credential":"anonymous","repository":"quay.io/a/b","metadata":{"` + digest + `":{"version":"wrong"}}}`,
		"a fact that is none":  `{"version":3,"credential":"anonymous","repository":"` + r.String() + `","metadata":{"` + digest + `":{"version":"wrong\n"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file := newCacheEntry(NewCache(), folder, scope{credential: anonymousID, repository: r}).file
			if err := atomicfile.Replace(file, []byte(content)); err != nil {
				t.Fatal(err)
			}
			c := newClient(t, Options{CacheDir: folder})
			got, err := c.For("a/1").Describe(t.Context(), r, digest)
			if err != nil || got.Version != "" || !got.Created.Equal(day(1)) {
				t.Fatalf("described %+v, %v", got, err)
			}
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			whole := readCacheFile(file, scope{credential: anonymousID, repository: r})
			if _, ok := whole.Metadata[digest]; !ok {
				t.Error("the file was not made whole")
			}
		})
	}
}

func TestCache_holdsNoSecretAndIsPrivate(t *testing.T) {
	t.Parallel()
	f, folder := newAuthFake(t), t.TempDir()
	digest := f.push(t, "tenant-b/web", "1.0.0")
	c := newClient(t, Options{CacheDir: folder, Credentials: []Credential{f.credential("github.com/2")}})
	if _, err := c.For("github.com/2").Describe(t.Context(), f.repository(t, "tenant-b/web"), digest); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "registry", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files = %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), password) {
		t.Errorf("the cache holds the password: %s", data)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
}

func TestCache_unwritableFolderFailsOnlyFlush(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	digest := f.push(t, "acme/web", built{created: day(1)}, "1")
	folder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Options{CacheDir: folder})
	if _, err := c.For("a/1").Describe(t.Context(), f.repository(t, "acme/web"), digest); err != nil {
		t.Fatalf("the answer failed with its cache: %v", err)
	}
	if err := c.Flush(); err == nil {
		t.Error("nobody is told")
	}
}

// Long tag lists of many repositories do not fill the memory: each entry counts what it
// holds, and those that do not fit are read from the cache folder again.
func TestCache_boundsItsBytes(t *testing.T) {
	t.Parallel()
	cache, folder := NewCache(), t.TempDir()
	cache.most = 100_000
	options := Options{CacheDir: folder}
	tags := make([]string, 1000)
	for i := range tags {
		tags[i] = fmt.Sprintf("tag-%06d", i) // 10 bytes, and 32 of overhead
	}
	at := func(i int) scope { return scope{repository: mustRepository(t, fmt.Sprintf("quay.io/acme/app%d", i))} }
	now := day(1)
	for i := range 20 {
		e := cache.entry(at(i), options)
		e.setTags(listing{tags: tags, complete: true}, now)
		e.setLastDigest("tag-000000", "sha256:"+strings.Repeat("a", 64))
		if got := cache.bytes.Load(); got > 100_000+43_000 {
			t.Fatalf("after %d entries: %d bytes", i+1, got)
		}
	}
	for i := range 20 {
		listed, ok := cache.entry(at(i), options).tags(validity{from: now, to: day(2)})
		if !ok || len(listed.tags) != len(tags) {
			t.Errorf("entry %d was lost", i)
		}
	}
	for len(cache.entries) > 0 {
		cache.dropUntil(func() bool { return false })
	}
	if got := cache.bytes.Load(); got != 0 {
		t.Errorf("%d bytes of no entries", got)
	}
}

func TestPrune_deletesTheOldestFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i, name := range []string{"new", "old", "older"} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		if at := day(9 - i); os.Chtimes(file, at, at) != nil {
			t.Fatal("the file has no time")
		}
	}
	if err := prune(folder, 250); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "new" || filepath.Base(left[1]) != "old" {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := prune(filepath.Join(folder, "missing"), 1); err != nil {
		t.Error(err)
	}
}

// More images than are remembered at once: what was learnt of the first is read again
// from the cache folder when its turn comes.
func TestCache_evictedEntriesAreReadFromDisk(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	memories, asked := NewCache(), 0
	memories.limit = 2
	c := newClient(t, Options{CacheDir: t.TempDir(), Cache: memories, ObserveCache: func(known bool) {
		if !known {
			asked++
		}
	}})
	digests := map[string]string{}
	for _, name := range []string{"acme/a", "acme/b", "acme/c"} {
		digests[name] = f.push(t, name, built{created: day(1)}, "1")
	}
	for range 2 {
		for name, digest := range digests {
			if _, err := c.For("github.com/1").Describe(t.Context(), f.repository(t, name), digest); err != nil {
				t.Fatal(err)
			}
		}
	}
	if asked != 3 {
		t.Errorf("facts were asked for %d times, want once of each image", asked)
	}
}

func TestCacheEntry_boundsMetadataBySize(t *testing.T) {
	t.Parallel()
	digest := func(n int) string { return fmt.Sprintf("sha256:%064d", n) }
	large := metadata{Children: slices.Repeat([]child{{digest(0), strings.Repeat("x", maxPlatform)}}, maxChildren)}
	m, n := newCacheEntry(NewCache(), "", scope{}), maxMetadataSize/large.size()
	for i := range n + 10 {
		m.addMetadata(digest(i), large)
		m.addMetadata(digest(i), large) // once more takes no more
	}
	if len(m.content.Metadata) != n || m.size > maxMetadataSize || m.size != n*large.size() {
		t.Errorf("%d facts take %d bytes, want %d", len(m.content.Metadata), m.size, n)
	}
	if _, ok := m.metadata(digest(n + 9)); !ok {
		t.Error("the last one was forgotten")
	}
}

func FuzzParseCacheFile(f *testing.F) {
	f.Add([]byte(`{"version":3,"credential":"c","repository":"r","metadata":{"sha256:a":{}},"lastDigests":{"a":"b"},"listing":{"tags":["a"],"next":"n=1"}}`))
	f.Add([]byte(`{"version":3,"credential":"c","repository":"r","tags":{"tags":["a","/"],"asOf":"2026-01-01T00:00:00Z"},"digests":{"a":{"digest":"x"},"/":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := parseCacheFile(data, cacheFile{Version: cacheFileVersion, Credential: "c", Repository: "r", Metadata: map[string]metadata{}, LastDigests: map[string]string{}})
		if !read.Listing.valid() {
			t.Error("a sweep that is none came through")
		}
		for digest, known := range read.Metadata {
			if !image.ValidDigest(digest) || !known.valid() {
				t.Errorf("%q: %+v came through", digest, known)
			}
		}
		if read.Tags != nil && slices.ContainsFunc(read.Tags.Tags, invalidTag) {
			t.Errorf("the tags %q came through", read.Tags.Tags)
		}
		for tag, known := range read.Digests {
			if !image.ValidTag(tag) || !image.ValidDigest(known.Digest) {
				t.Errorf("%q at %q came through", tag, known.Digest)
			}
		}
	})
}

func BenchmarkResolveWarm(b *testing.B) {
	f := newFake(b)
	f.push(b, "acme/web", built{created: day(1)}, "1")
	c := newClient(b, Options{})
	ref := image.Reference{Repository: f.repository(b, "acme/web"), Tag: "1"}
	for b.Loop() {
		if _, err := c.For("a/1").Resolve(b.Context(), ref); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelectWarm(b *testing.B) {
	f := newFake(b)
	f.push(b, "acme/web", built{created: day(1)}, "1.0.0", "1.1.0")
	c, r := newClient(b, Options{}), webRequest(b, f)
	for b.Loop() {
		if s := mustSelect(b, c.For("a/1"), r); !s.Found {
			b.Fatal(s.Reason)
		}
	}
}

// A cached response is valid for its freshness time and earlier ones, whichever client or
// process requested it. A later time requests it again, once for all with the same access.
func TestSelect_acceptsCachedResponsesForTheirTime(t *testing.T) {
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
func TestResolve_ignoresTheCacheWithoutAsOf(t *testing.T) {
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
func TestSelect_cachesOnlyCompleteLists(t *testing.T) {
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
func TestSelect_rechecksOneSliceForEachTime(t *testing.T) {
	t.Parallel()
	f, images := newFake(t), map[string]built{}
	for n := range 120 {
		images[fmt.Sprintf("main-%d", n)] = built{created: day(1).Add(time.Duration(n) * time.Minute)}
	}
	f.pushEach(t, "acme/web", images)
	c := newClient(t, Options{})
	r := Request{Repository: f.repository(t, "acme/web"), Policy: mustPolicy(t, image.Selection{Newest: "^main-"}), AsOf: time.Now().Add(-time.Minute)}
	mustSelect(t, c.For("a/1"), r)
	for i, want := range []int{0, recheckBest + recheckOthers, 0} {
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
func TestCache_dropsUnusedEntries(t *testing.T) {
	t.Parallel()
	folder, known := t.TempDir(), NewCache()
	at := scope{credential: anonymousID, repository: mustRepository(t, "quay.io/acme/web")}
	known.entry(at, Options{CacheDir: folder, ObserveCache: func(bool) {}}).setTags(listing{tags: []string{"1.0.0"}, complete: true}, time.Now())
	for range idleClients + 1 {
		known.begin()
	}
	if files, err := filepath.Glob(filepath.Join(folder, "registry", "*.json")); len(known.entries) != 0 || err != nil || len(files) != 1 {
		t.Errorf("%d in memory, files %v: %v", len(known.entries), files, err)
	}
}

// What a file says is taken only as far as it could be an answer.
func TestParseCacheFile_dropsInvalidResponses(t *testing.T) {
	t.Parallel()
	at := scope{credential: anonymousID, repository: mustRepository(t, "quay.io/acme/web")}
	m := newCacheEntry(NewCache(), t.TempDir(), at)
	moment := time.Now()
	m.setTags(listing{tags: []string{"1.0.0"}, complete: true}, moment)
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
	spoiled["tags"].(map[string]any)["tags"] = []string{"1.0.0", "a/b"}
	spoiled["digests"] = map[string]any{"1.0.0": map[string]any{"digest": "sha256:0", "asOf": moment}}
	if data, err = json.Marshal(spoiled); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	again := newCacheEntry(NewCache(), "", at)
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
