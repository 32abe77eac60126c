package git_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"promoter/internal/git"
)

// What a fetch brings depends on what was touched, not on how much there is.
func TestFetch_costs(t *testing.T) {
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

// A branch may be replaced, moved far back, and moved on from there.
func TestFetch_forcePushed(t *testing.T) {
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
