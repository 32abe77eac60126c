package git_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	before := o.commit("main", many(50))
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
			if got := history(t, m, main); !slices.Equal(got, []git.ID{main, before}) {
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
	for _, name := range []string{"file", "http", "ssh"} {
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
			m := openedIn(t, dir, allWays(o)[name])
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
			if got := history(t, m, on); !slices.Equal(got, []git.ID{on, ids[3], ids[2]}) {
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
