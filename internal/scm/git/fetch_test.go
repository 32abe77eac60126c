package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm/git"
)

// ways are the transports that every story is told over.
func ways(o *origin) map[string]git.Remote {
	return map[string]git.Remote{"file": o.remoteFile(), "http": o.serve().remote()}
}

func many(n int) files {
	all := files{}
	for i := range n {
		all[fmt.Sprintf("apps/a%d/f%d.yaml", i%10, i)] = fmt.Sprintf("file: %d\n", i)
	}
	return all
}

// contents reads every file of a commit.
func contents(t testing.TB, m *git.Mirror, id git.ID) map[string]string {
	t.Helper()
	tree, err := m.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := list(tree)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares a commit in the mirror with the origin's, file by file.
func same(t testing.TB, m *git.Mirror, o *origin, id git.ID) {
	t.Helper()
	want, got := o.contents(id), contents(t, m, id)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", id, diff)
	}
}

// history lists the first-parent history that a mirror has of a commit.
func history(t testing.TB, m *git.Mirror, id git.ID) []git.ID {
	t.Helper()
	var ids []git.ID
	for commit, err := range m.History(id) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, commit.ID)
	}
	return ids
}

// objectsIn counts the objects in the packs of a mirror's folder.
func objectsIn(t testing.TB, dir string) int {
	t.Helper()
	indexes, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.idx"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range indexes {
		count += strings.Count(askGit(t, ".", "verify-pack", "-v", name), "\n")
		count -= strings.Count(askGit(t, ".", "verify-pack", "-s", name), "\n") + 1
	}
	return count
}

func TestFetch_P17_first(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(50))
	main := o.commit("main", files{"a.yaml": "a: 1\n"})
	prod := o.commit("env/prod", files{"p.yaml": "p: 1\n"})
	o.repack()
	for name, remote := range ways(o) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := opened(t, remote)
			refs, err := m.List(t.Context())
			want := git.Refs{Branches: map[string]git.ID{"main": main, "env/prod": prod}, Default: "main"}
			if diff := cmp.Diff(want, refs); err != nil || diff != "" {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			found, err := m.Fetch(t.Context(), "main", "env/prod", "none")
			if diff := cmp.Diff(want.Branches, found); err != nil || diff != "" {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			same(t, m, o, main)
			same(t, m, o, prod)
			if got := history(t, m, main); !slices.Equal(got, []git.ID{main}) {
				t.Errorf("history: %v", got)
			}
			if id, ok := m.Have("main"); id != main || !ok {
				t.Errorf("have %s, %v", id, ok)
			}
			if id, ok := m.Have("none"); ok {
				t.Errorf("have none: %s", id)
			}
		})
	}
}

// A revert brings back objects that lie below the boundary of a shallow mirror.
// A server with bitmaps leaves them out for a client that does not name it.
func TestFetch_P17_shallowBoundary(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(100))
	o.commit("main", files{"apps/a1/f1.yaml": "old: 1\n", "apps/a2/f2.yaml": "old: 2\n"})
	first := o.commit("main", files{"apps/a1/f1.yaml": "new: 1\n", "apps/a2/f2.yaml": "new: 2\n", "extra.yaml": "x\n"})
	remotes := ways(o)
	mirrors := map[string]*git.Mirror{}
	for name, remote := range remotes {
		mirrors[name] = opened(t, remote)
		fetched(t, mirrors[name], "main")
	}
	middle := o.commit("main", files{"apps/a3/f3.yaml": "mid\n"})
	revert := o.commit("main", files{"apps/a1/f1.yaml": "old: 1\n", "apps/a2/f2.yaml": "old: 2\n", "extra.yaml": "", "apps/a3/f3.yaml": "file: 3\n"})
	o.repack()
	for name, m := range mirrors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := fetched(t, m, "main"); found["main"] != revert {
				t.Errorf("found %v", found)
			}
			same(t, m, o, revert)
			same(t, m, o, middle)
			if got := history(t, m, revert); !slices.Equal(got, []git.ID{revert, middle, first}) {
				t.Errorf("history: %v", got)
			}
		})
	}
}

// What a fetch brings depends on what was touched, not on how much there is.
func TestFetch_P17_costs(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(1000))
	for i := range 20 {
		o.commit("main", files{"apps/a1/f1.yaml": fmt.Sprintf("v: %d\n", i)})
	}
	o.repack()
	for name, remote := range ways(o) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "mirror")
			m := openedIn(t, dir, remote)
			fetched(t, m, "main")
			before := objectsIn(t, dir)
			if before != 1000+1+10+1+1 { // files, folders, commit
				t.Errorf("the first fetch brought %d objects", before)
			}
			next := o.commit("main", files{"apps/a1/f1.yaml": "next: " + name + "\n"})
			o.repack()
			fetched(t, m, "main")
			if got := objectsIn(t, dir) - before; got != 5 { // commit, three folders, file
				t.Errorf("the next fetch brought %d objects", got)
			}
			same(t, m, o, next)
		})
	}
}

func TestFetch_P17_forcePushed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", many(30))
			var ids []git.ID
			for i := range 20 {
				ids = append(ids, o.commit("main", files{"v.yaml": fmt.Sprintf("v: %d\n", i)}))
			}
			o.repack()
			dir := filepath.Join(t.TempDir(), "mirror")
			m := openedIn(t, dir, ways(o)[name])
			fetched(t, m, "main")

			// Replaced from before the boundary: the history of that does not come along.
			o.move("main", ids[10])
			replaced := o.commit("main", files{"v.yaml": "v: other\n"})
			o.repack()
			before := objectsIn(t, dir)
			if found := fetched(t, m, "main"); found["main"] != replaced {
				t.Errorf("found %v", found)
			}
			same(t, m, o, replaced)
			if got := history(t, m, replaced); !slices.Equal(got, []git.ID{replaced}) {
				t.Errorf("history: %v", got)
			}
			if got := objectsIn(t, dir) - before; got > 50 {
				t.Errorf("%d objects came", got)
			}

			// Moved back, so that the head is older than all that the mirror has, and
			// what it had is gone from the server.
			o.move("main", ids[3])
			o.run("", "reflog", "expire", "--expire=now", "--all")
			o.run("", "gc", "-q", "--prune=now")
			fetched(t, m, "main")
			same(t, m, o, ids[3])

			// And forward again.
			on := o.commit("main", files{"on.yaml": "on\n"})
			o.repack()
			fetched(t, m, "main")
			same(t, m, o, on)
			if got := history(t, m, on); !slices.Equal(got, []git.ID{on, ids[3]}) {
				t.Errorf("history: %v", got)
			}
		})
	}
}

func TestFetch_P17_branchesComeAndGo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			base := o.commit("main", many(30))
			remote := ways(o)[name]
			m := opened(t, remote)
			fetched(t, m, "main")
			o.move("env", base)
			o.move("env2", base)
			prod := o.commit("env", files{"p.yaml": "p\n"})
			fetched(t, m, "main", "env", "env2")
			same(t, m, o, prod)

			o.move("env", git.ID{})
			eu := o.commit("env/eu", files{"e.yaml": "e\n"}) // where a branch was is a folder now
			found, err := m.Fetch(t.Context(), "main", "env", "env/eu")
			if diff := cmp.Diff(map[string]git.ID{"main": base, "env/eu": eu}, found); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			same(t, m, o, eu)
			if id, ok := m.Have("env"); ok {
				t.Errorf("have a branch that is gone: %s", id)
			}
		})
	}
}

func TestFetch_P17_emptyRepository(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			m := opened(t, ways(o)[name])
			refs, err := m.List(t.Context())
			if err != nil || len(refs.Branches) != 0 {
				t.Errorf("%v, %v", refs, err)
			}
			if found, err := m.Fetch(t.Context(), "main"); err != nil || len(found) != 0 {
				t.Errorf("%v, %v", found, err)
			}
			first := o.commit("main", files{"a.yaml": "a\n"})
			fetched(t, m, "main")
			same(t, m, o, first)
		})
	}
}

// The idle pass is one listing: a fetch that finds nothing new asks for no more.
func TestFetch_P17_idle(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(10))
	web := o.serve()
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, web.remote())
	fetched(t, m, "main")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	web.asked()
	m = openedIn(t, dir, web.remote())
	if refs, err := m.List(t.Context()); err != nil || refs.Branches["main"] != main {
		t.Errorf("%v, %v", refs, err)
	}
	if id, _ := m.Have("main"); id != main {
		t.Errorf("have %s", id)
	}
	listing := []string{"GET /origin.git/info/refs?service=git-upload-pack"}
	if diff := cmp.Diff(listing, web.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	fetched(t, m, "main")
	if diff := cmp.Diff(listing, web.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestFetch_P17_tooLarge(t *testing.T) {
	t.Parallel()
	small := func(o *git.Options) { o.BlobLimit = 1000 }
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", files{"a.yaml": "a\n", "exact.yaml": strings.Repeat("e", 1000), "big.yaml": strings.Repeat("b", 1001)})
			dir := filepath.Join(t.TempDir(), "mirror")
			remote := ways(o)[name]
			m := openedIn(t, dir, remote, small)
			head := fetched(t, m, "main")["main"]
			sizes(t, m, head, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true})

			// One more, in a later fetch: looked at twice, then remembered.
			next := o.commit("main", files{"more.yaml": strings.Repeat("m", 2000), "a.yaml": "a: 2\n"})
			o.repack()
			fetched(t, m, "main")
			sizes(t, m, next, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true, "more.yaml": true})
			if got := history(t, m, next); !slices.Equal(got, []git.ID{next, head}) {
				t.Errorf("history: %v", got)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = openedIn(t, dir, remote, small)
			sizes(t, m, next, map[string]bool{"a.yaml": false, "exact.yaml": false, "big.yaml": true, "more.yaml": true})
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}

			// Another limit is another mirror.
			m = openedIn(t, dir, remote, func(o *git.Options) { o.BlobLimit = 5000 })
			fetched(t, m, "main")
			same(t, m, o, next)
		})
	}
}

// sizes reads every file and compares which ones are too large.
func sizes(t *testing.T, m *git.Mirror, id git.ID, want map[string]bool) {
	t.Helper()
	tree, err := m.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for entry, err := range tree.Files() {
		if err != nil {
			t.Fatal(err)
		}
		_, err := entry.Read(1 << 20)
		if err != nil && !errors.Is(err, git.ErrTooLarge) {
			t.Error(err)
		}
		if m.TooLarge(entry.ID) != errors.Is(err, git.ErrTooLarge) {
			t.Errorf("%s: TooLarge says %v, Read %v", entry.Path, m.TooLarge(entry.ID), err)
		}
		got[entry.Path] = m.TooLarge(entry.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("too large (-want +got):\n%s", diff)
	}
}

// A server that cannot filter sends everything, up to the limits.
func TestFetch_P17_withoutFilter(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.config("uploadpack.allowFilter", "false")
	head := o.commit("main", files{"a.yaml": "a\n", "big.yaml": strings.Repeat("b", 5000)})
	for name, remote := range ways(o) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := opened(t, remote, func(o *git.Options) { o.BlobLimit = 1000 })
			fetched(t, m, "main")
			same(t, m, o, head)
		})
	}
}

func TestFetch_P17_limits(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.config("uploadpack.allowFilter", "false")
	o.commit("main", files{"a.yaml": "a\n", "big.yaml": strings.Repeat("b", 5000)})
	remotes := ways(o)
	for name, test := range map[string]struct {
		change func(*git.Options)
		want   string
	}{
		"a pack":    {func(o *git.Options) { o.PackLimit = 100 }, "the pack is larger than allowed"},
		"an object": {func(o *git.Options) { o.ObjectLimit = 4999 }, "the repository holds an object of 5000 bytes, over the limit of 4999"},
	} {
		for way, remote := range remotes {
			t.Run(name+" over "+way, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "mirror")
				m := openedIn(t, dir, remote, test.change)
				_, err := m.Fetch(t.Context(), "main")
				if fault.KindOf(err) != fault.Invalid || !strings.HasSuffix(err.Error(), test.want) {
					t.Errorf("%v: %v", fault.KindOf(err), err)
				}
				left, err := filepath.Glob(filepath.Join(dir, "incoming-*"))
				if err != nil || len(left) != 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
}

// The mirror is dropped and made anew whatever is broken in it.
func TestOpen_P17_damaged(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", many(30))
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no state":           func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "state.json")) },
		"a state cut short":  func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, "state.json"), 20) },
		"no objects":         func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "objects")) },
		"a pack cut short":   func(t *testing.T, dir string) { truncate(t, one(t, dir, "*.pack"), 200) },
		"an empty pack":      func(t *testing.T, dir string) { truncate(t, one(t, dir, "*.pack"), 0) },
		"no index":           func(t *testing.T, dir string) { remove(t, one(t, dir, "*.idx")) },
		"an index cut short": func(t *testing.T, dir string) { truncate(t, one(t, dir, "*.idx"), 100) },
		"what a crash left":  func(t *testing.T, dir string) { write(t, filepath.Join(dir, "incoming-1"), "PACK") },
		"a mirror of others": func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "state.json"), "file://", "file:///x") },
		"a mirror of the past": func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "state.json"), `"version": 1`, `"version": 0`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "mirror")
			m := openedIn(t, dir, o.remoteFile())
			fetched(t, m, "main")
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			mkdir(t, filepath.Join(dir, "cache"))
			damage(t, dir)
			m = openedIn(t, dir, o.remoteFile())
			fetched(t, m, "main")
			same(t, m, o, head)
			if _, err := os.Stat(filepath.Join(dir, "cache")); err != nil {
				t.Error("what others keep in the folder is gone")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "incoming-*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// An object that cannot be read is found when it is read: the next user of the
// mirror finds a new one.
func TestOpen_P17_damagedInside(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", files{"a.yaml": strings.Repeat("0123456789abcdef", 200)})
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	name := one(t, dir, "*.pack")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 14; i < len(content)-20; i++ {
		content[i] ^= 0x55
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, name, string(content))
	m = openedIn(t, dir, o.remoteFile())
	if _, err := m.Tree(head); err == nil {
		t.Fatal("a broken object was read")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	same(t, m, o, head)
}

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "objects/pack", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func truncate(t *testing.T, name string, size int64) {
	t.Helper()
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, name, old, by string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(content), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	write(t, name, strings.Replace(string(content), old, by, 1))
}

func TestOpen_oneAtATime(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	dir := filepath.Join(t.TempDir(), "mirror")
	first := openedIn(t, dir, o.remoteFile())
	ctx, cancel := contextWith(t, 100*time.Millisecond)
	defer cancel()
	_, err := git.Open(ctx, dir, git.Options{Remote: o.remoteFile()})
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openedIn(t, dir, o.remoteFile())
}

func TestDeepen_P17(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", many(30))
			var ids []git.ID
			for i := range 20 {
				ids = append(ids, o.commit("main", files{"v.yaml": fmt.Sprintf("v: %d\n", i)}))
			}
			slices.Reverse(ids) // newest first
			at := func(i int) time.Time { return epoch.Add(time.Duration(21-i) * time.Hour) }
			o.repack()
			web := o.serve()
			remote := o.remoteFile()
			if name == "http" {
				remote = web.remote()
			}
			m := opened(t, remote)
			if err := m.Deepen(t.Context(), "main", at(3)); fault.KindOf(err) != fault.Conflict {
				t.Errorf("a branch that was never fetched: %v", err)
			}
			fetched(t, m, "main")
			deepen := func(since time.Time, want int) {
				t.Helper()
				if err := m.Deepen(t.Context(), "main", since); err != nil {
					t.Fatal(err)
				}
				if got := history(t, m, ids[0]); !slices.Equal(got, ids[:want]) {
					t.Errorf("since %s: %d commits, want %d", since, len(got), want)
				}
				for _, id := range ids[:want] {
					same(t, m, o, id)
				}
			}
			deepen(at(0).Add(time.Minute), 1) // newer than everything
			deepen(at(3), 4)
			web.asked()
			deepen(at(3), 4)
			deepen(at(2), 4)
			if asked := web.asked(); len(asked) != 0 {
				t.Errorf("asked for what is here: %v", asked)
			}
			deepen(at(10), 11)

			next := o.commit("main", files{"v.yaml": "v: next\n"})
			o.repack()
			if err := m.Deepen(t.Context(), "main", at(15)); fault.KindOf(err) != fault.Conflict {
				t.Errorf("a branch that moved meanwhile: %v", err)
			}
			fetched(t, m, "main")
			if got := history(t, m, next); !slices.Equal(got, append([]git.ID{next}, ids[:11]...)) {
				t.Errorf("%d commits after a fetch", len(got))
			}
			if err := m.Deepen(t.Context(), "main", epoch); err != nil { // all there is
				t.Fatal(err)
			}
			if got := history(t, m, next); len(got) != 22 {
				t.Errorf("%d commits in all", len(got))
			}
			last := o.commit("main", files{"v.yaml": "v: last\n"})
			o.repack()
			fetched(t, m, "main")
			same(t, m, o, last)
			if err := m.Deepen(t.Context(), "main", epoch.Add(-time.Hour)); err != nil {
				t.Error(err)
			}
		})
	}
}
