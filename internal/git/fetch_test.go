package git_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git"
)

func TestFetch_first(t *testing.T) {
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
func TestFetch_shallowBoundary(t *testing.T) {
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

func TestFetch_branchesComeAndGo(t *testing.T) {
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

func TestFetch_emptyRepository(t *testing.T) {
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
func TestFetch_idle(t *testing.T) {
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
