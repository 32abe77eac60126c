package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"promoter/internal/atomicfile"
	"promoter/internal/fault"
	"promoter/internal/image"
)

func TestPass_oneReadForAllWithTheSameRight(t *testing.T) {
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

func TestPass_whatCanChangeIsAskedInEachPass(t *testing.T) {
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

func TestPass_aFailureIsAnAnswerToo(t *testing.T) {
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
		"cut":                  `{"version":1,"facts":{"sha256:`,
		"not JSON":             "\x00\x01",
		"another version":      `{"version":99,"credential":"anonymous","repository":"` + r.String() + `","facts":{"` + digest + `":{"version":"wrong"}}}`,
		"another credential's": `{"version":1,"credential":"other","repository":"` + r.String() + `","facts":{"` + digest + `":{"version":"wrong"}}}`,
		"another repository's": `{"version":1,"credential":"anonymous","repository":"quay.io/a/b","facts":{"` + digest + `":{"version":"wrong"}}}`,
		"a fact that is none":  `{"version":1,"credential":"anonymous","repository":"` + r.String() + `","facts":{"` + digest + `":{"version":"wrong\n"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file := newCacheEntry(folder, scope{credential: anonymousID, repository: r}).file
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

func TestCache_aFolderThatCannotBeWritten(t *testing.T) {
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

func TestClient_whatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	m := map[scope]int{}
	for i := range 3 {
		dropOne(m, 2)
		m[scope{credential: strings.Repeat("x", i)}] = i
	}
	if len(m) != 2 {
		t.Errorf("%d are remembered", len(m))
	}
}

// More images than are remembered at once: what was learnt of the first is read again
// from the cache folder when its turn comes.
func TestMemories_whatMakesRoomIsKept(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	memories, asked := NewCache(), 0
	memories.most = 2
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

func TestMemory_factsAreBoundedByTheirSize(t *testing.T) {
	t.Parallel()
	digest := func(n int) string { return fmt.Sprintf("sha256:%064d", n) }
	large := metadata{Children: slices.Repeat([]child{{digest(0), strings.Repeat("x", maxPlatform)}}, maxChildren)}
	m, n := newCacheEntry("", scope{}), maxMetadataSize/large.size()
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

func FuzzParseKept(f *testing.F) {
	f.Add([]byte(`{"version":1,"credential":"c","repository":"r","facts":{"sha256:a":{}},"tags":{"a":"b"},"sweep":{"tags":["a"],"next":"n=1"}}`))
	f.Add([]byte(`{"version":1,"credential":"c","repository":"r","listed":{"tags":["a","/"],"asOf":"2026-01-01T00:00:00Z"},"heads":{"a":{"digest":"x"},"/":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := parseCacheFile(data, cacheFile{Version: cacheFileVersion, Credential: "c", Repository: "r", Metadata: map[string]metadata{}, LastDigests: map[string]string{}})
		if !read.Progress.valid() {
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
