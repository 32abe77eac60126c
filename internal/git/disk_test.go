package git_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
)

// noise is content that cannot be compressed.
func noise(size int) string {
	content := make([]byte, size)
	_, _ = rand.Read(content) // never fails
	return string(content)
}

// counting counts what a server sends.
type counting struct {
	http.ResponseWriter
	sent *int
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	*c.sent += n
	return n, err
}

// A pack that does not fit into the mirror is not received to its end.
func TestFetch_stopsAtTheDiskLimit(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	big := files{}
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		big[name] = noise(1 << 20)
	}
	o.commit("main", big)
	web := o.serve()
	sent, done := 0, make(chan struct{}, 8)
	web.instead(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			defer func() { done <- struct{}{} }()
			web.backend.ServeHTTP(counting{rw, &sent}, r)
			return true
		}
		return false
	})
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, web.remote(), func(o *git.Options) { o.BlobLimit, o.DiskLimit = 2<<20, 1<<20 })
	_, err := m.Fetch(t.Context(), "main")
	if want := "with the commits of main, the repository needs more than 1 MiB of disk (sizes.mirror in the server file); 0 KiB are in use"; fault.KindOf(err) != fault.Invalid ||
		!strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	<-done
	if sent > 12<<20 { // with the buffers of both sides
		t.Errorf("the server sent %d bytes", sent)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "incoming-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What was fetched over time is not needed anymore. A mirror that has no room left keeps
// what it has, and is replaced when it is opened again.
func TestFetch_replacesAFullMirror(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first := o.commit("main", files{"a": noise(600 << 10)})
	dir := filepath.Join(t.TempDir(), "mirror")
	open := func() *git.Mirror {
		return openedIn(t, dir, ways(o)["file"], func(o *git.Options) { o.DiskLimit = 1 << 20 })
	}
	m := open()
	fetched(t, m, "main")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open()
	second := o.commit("main", files{"a": noise(600 << 10)})
	_, err := m.Fetch(t.Context(), "main")
	if fault.KindOf(err) != fault.Invalid || !strings.HasSuffix(err.Error(), "602 KiB are in use") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if id, _ := m.Have("main"); id != first {
		t.Errorf("have %s", id)
	}
	same(t, m, o, first)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open()
	if found := fetched(t, m, "main"); found["main"] != second {
		t.Errorf("found %v", found)
	}
	same(t, m, o, second)
}

func TestTrim_emptiesWhatWasNotUsedForTheLongestTime(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", files{"a": noise(100 << 10)})
	remote, dir := ways(o)["file"], t.TempDir()
	names := []string{"open", "oldest", "old", "newer", "newest"}
	mirrors := map[string]*git.Mirror{}
	for i, name := range names {
		m := openedIn(t, filepath.Join(dir, name), remote)
		fetched(t, m, "main")
		if n := m.Grown(); n < 100<<10 {
			t.Errorf("%s has grown by %d bytes", name, n)
		}
		for _, beside := range []string{"kept", "scan"} {
			if err := os.WriteFile(filepath.Join(dir, name, beside), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		mirrors[name] = m
		if name != "open" {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name, "lock"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	trim := func(limit int64) (emptied int) {
		t.Helper()
		all, _, err := git.Trim(dir, limit, func(dir string) error { return os.Remove(filepath.Join(dir, "scan")) })
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if one.Size < 100<<10 || !strings.HasPrefix(one.URL, "file://") {
				t.Errorf("emptied %+v", one)
			}
		}
		return len(all)
	}
	full := func() (names []string) {
		t.Helper()
		packs, err := filepath.Glob(filepath.Join(dir, "*", "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		for _, pack := range packs {
			names = append(names, filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(pack)))))
		}
		slices.Sort(names)
		return names
	}
	if n := trim(1 << 20); n != 0 || len(full()) != 5 {
		t.Errorf("with room for all, %d were emptied; left: %v", n, full())
	}
	if n, left := trim(350<<10), full(); n != 2 || !slices.Equal(left, []string{"newer", "newest", "open"}) {
		t.Errorf("with room for three, %d were emptied; left: %v", n, left)
	}
	if n, left := trim(1), full(); n != 1 || !slices.Equal(left, []string{"newest", "open"}) {
		t.Errorf("without room, %d were emptied; left: %v", n, left)
	}
	same(t, mirrors["open"], o, o.head("main"))
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name, "kept")); err != nil {
			t.Error(err)
		}
	}
	m := openedIn(t, filepath.Join(dir, "old"), remote)
	fetched(t, m, "main")
	same(t, m, o, o.head("main"))
}

// Mirrors that are being removed or created meanwhile do not stop it.
func TestTrim_toleratesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if all, _, err := git.Trim(filepath.Join(dir, "missing"), 1, nil); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if all, _, err := git.Trim(dir, 1, nil); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// The mirrors are measured when what was added may exceed the limit, and not each time.
func TestDisk_measuresWhenTheMirrorsMayBeTooLarge(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), t.TempDir()
	o.commit("main", files{"a": noise(100 << 10)})
	var disk git.Disk
	const limit = 10 << 20
	grow := func(name string, grown int64) (emptied int) {
		t.Helper()
		m := openedIn(t, filepath.Join(dir, name), ways(o)["file"])
		fetched(t, m, "main")
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		all, err := disk.Grow(dir, grown, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	grow("first", 100<<10)
	if err := os.WriteFile(filepath.Join(dir, "first", "beside"), make([]byte, limit), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := grow("second", 100<<10); n != 0 {
		t.Errorf("%d were emptied: what was counted fits", n)
	}
	if n := grow("third", limit/50); n != 1 {
		t.Errorf("%d were emptied, want the oldest", n)
	}
}
