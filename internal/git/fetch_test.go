package git_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git"
	"promoter/internal/git/object"
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
			want := git.Refs{Branches: map[string]object.ID{"main": main, "env/prod": prod}, Default: "main"}
			if diff := cmp.Diff(want, refs); err != nil || diff != "" {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			found, err := m.Fetch(t.Context(), "main", "env/prod", "none")
			if diff := cmp.Diff(want.Branches, found); err != nil || diff != "" {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			same(t, m, o, main)
			same(t, m, o, prod)
			if got := history(t, m, main); !slices.Equal(got, []object.ID{main, before}) {
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
			if got := history(t, m, revert); !slices.Equal(got, []object.ID{revert, middle, first}) {
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

			o.move("env", object.ID{})
			eu := o.commit("env/eu", files{"e.yaml": "e\n"}) // where a branch was is a folder now
			found, err := m.Fetch(t.Context(), "main", "env", "env/eu")
			if diff := cmp.Diff(map[string]object.ID{"main": base, "env/eu": eu}, found); err != nil || diff != "" {
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
			if _, err := m.List(t.Context()); err != nil {
				t.Error(err)
			}
			fetched(t, m, "main")
			same(t, m, o, first)
		})
	}
}

// A branch that comes later is mostly one commit over a branch that is there. What
// it changes can be seen, and the history that is there stays.
func TestFetch_laterBranches(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", many(30))
			var ids []object.ID
			for i := range 6 {
				ids = append(ids, o.commit("main", files{"v.yaml": fmt.Sprintf("v: %d\n", i)}))
			}
			o.move("old", ids[1])
			old := o.commit("old", files{"v.yaml": "v: old\n"})
			o.move("new", ids[5])
			fresh := o.commit("new", files{"v.yaml": "v: new\n"})
			o.repack()
			m := opened(t, ways(o)[name])
			fetched(t, m, "main")
			if err := m.Deepen(t.Context(), "main", epoch.Add(4*time.Hour)); err != nil {
				t.Fatal(err)
			}
			fetched(t, m, "main", "old", "new")
			for head, parent := range map[object.ID]object.ID{old: ids[1], fresh: ids[5]} {
				if changed, err := m.Objects.Changed(parent, head); err != nil || !slices.Equal(changed, []string{"v.yaml"}) {
					t.Errorf("%s changes %v, %v", head, changed, err)
				}
			}
			want := []object.ID{fresh, ids[5], ids[4], ids[3], ids[2], ids[1]} // the last one came with the old branch
			if got := history(t, m, fresh); !slices.Equal(got, want) {
				t.Errorf("history: %v, want what was here and no less", got)
			}
			if err := m.Deepen(t.Context(), "main", epoch.Add(2*time.Hour)); err != nil {
				t.Fatal(err)
			}
			if got := history(t, m, ids[5]); len(got) != 6 {
				t.Errorf("%d commits after more of the history was asked for", len(got))
			}
			next := o.commit("old", files{"v.yaml": "v: next\n"})
			o.repack()
			fetched(t, m, "main", "old", "new")
			same(t, m, o, next)
		})
	}
}

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
			var ids []object.ID
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
			if got := history(t, m, replaced); !slices.Equal(got, []object.ID{replaced}) {
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
			if got := history(t, m, on); !slices.Equal(got, []object.ID{on, ids[3], ids[2]}) {
				t.Errorf("history: %v", got)
			}
		})
	}
}

// A branch that began before the mirror's history is merged after it. The server
// ends the history at the merge then, although the first parent is here.
func TestFetch_mergeOfAnOlderBranch(t *testing.T) {
	t.Parallel()
	for name := range twoWays() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.move("feature", o.commit("main", many(30)))
			older := o.commit("feature", files{"f.yaml": "f\n"})
			first := o.commit("main", files{"a.yaml": "a: 1\n"})
			m := opened(t, ways(o)[name])
			fetched(t, m, "main")
			merged := o.merge("main", files{"f.yaml": "f\n"}, older)
			next := o.commit("main", files{"a.yaml": "a: 2\n"})
			o.repack()
			fetched(t, m, "main")
			same(t, m, o, next)
			if got := history(t, m, next); !slices.Equal(got, []object.ID{next, merged, first}) {
				t.Errorf("history: %v, want what landed since", got)
			}
			after := o.commit("main", files{"a.yaml": "a: 1\n", "f.yaml": ""})
			o.repack()
			fetched(t, m, "main")
			same(t, m, o, after)
		})
	}
}

// By time, a server ends the history at a merge of which one parent is too old,
// and leaves out the other one too.
func TestDeepen_merges(t *testing.T) {
	t.Parallel()
	for name := range twoWays() {
		for branch, old := range map[string]bool{"an older branch": true, "a younger branch": false} {
			t.Run(branch+" over "+name, func(t *testing.T) {
				t.Parallel()
				o := newOrigin(t)
				var line []object.ID
				line = append(line, o.commit("main", many(30))) // hour 1
				o.move("feature", line[0])
				if old {
					o.commit("feature", files{"f.yaml": "f\n"}) // hour 2
				}
				for i := range 3 {
					line = append(line, o.commit("main", files{"a.yaml": fmt.Sprintf("a: %d\n", i)}))
				}
				if !old {
					o.commit("feature", files{"f.yaml": "f: 1\n"}) // hour 5
					o.commit("feature", files{"f.yaml": "f\n"})
				}
				line = append(line, o.merge("main", files{"f.yaml": "f\n"}, o.head("feature")))
				line = append(line, o.commit("main", files{"a.yaml": "a: 9\n"}))
				o.repack()
				m := opened(t, ways(o)[name])
				head := fetched(t, m, "main")["main"]
				since, want := hour(3), line[1:] // older: the three commits of hours 3 to 5 belong to it
				if !old {
					since, want = hour(5), line[4:]
				}
				if err := m.Deepen(t.Context(), "main", since); err != nil {
					t.Fatal(err)
				}
				got := history(t, m, head)
				slices.Reverse(got)
				if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
					t.Errorf("history: %v, want at least %v", got, want)
				}
				for _, id := range got {
					same(t, m, o, id)
				}
				next := o.commit("main", files{"a.yaml": "a: 10\n", "f.yaml": ""})
				o.repack()
				fetched(t, m, "main")
				same(t, m, o, next)
			})
		}
	}
}

// grown is an origin with so many commits on main, oldest first.
func grown(t *testing.T, n int) (*origin, []object.ID) {
	t.Helper()
	o := newOrigin(t)
	ids := []object.ID{o.commit("main", many(30))}
	for i := range n - 1 {
		ids = append(ids, o.commit("main", files{"v.yaml": fmt.Sprintf("v: %d\n", i)}))
	}
	return o, ids
}

// A branch that began long ago says nothing about how much of the others is here.
func TestFetch_oldBranchBringsNoHistory(t *testing.T) {
	t.Parallel()
	for name := range twoWays() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, ids := grown(t, 5)
			o.move("old", ids[1])
			o.commit("old", files{"o.yaml": "o: 1\n"})
			o.hours += 24 * 30
			for i := range 20 {
				o.commit("main", files{"v.yaml": fmt.Sprintf("later: %d\n", i)})
			}
			first := o.head("main")
			dir := filepath.Join(t.TempDir(), "mirror")
			m := openedIn(t, dir, ways(o)[name])
			fetched(t, m, "main")
			fetched(t, m, "main", "old")
			before := objectsIn(t, dir)
			next := o.commit("main", files{"v.yaml": "v: next\n"})
			old := o.commit("old", files{"o.yaml": "o: 2\n"})
			o.repack()
			fetched(t, m, "main", "old")
			if got := objectsIn(t, dir) - before; got != 6 { // of each branch: commit, folder, file
				t.Errorf("%d objects came", got)
			}
			if got := history(t, m, next); !slices.Equal(got, []object.ID{next, first}) {
				t.Errorf("history: %v", got)
			}
			same(t, m, o, next)
			same(t, m, o, old)
		})
	}
}

// What is known about the history of a branch ends when the branch is moved to
// another one that is here.
func TestDeepen_afterAMoveToAnotherBranch(t *testing.T) {
	t.Parallel()
	o, ids := grown(t, 8)
	m := opened(t, o.remoteFile())
	fetched(t, m, "main")
	if err := m.Deepen(t.Context(), "main", hour(4)); err != nil {
		t.Fatal(err)
	}
	o.move("other", ids[1])
	want := []object.ID{ids[1]}
	for i := range 3 {
		want = append(want, o.commit("other", files{"o.yaml": fmt.Sprintf("o: %d\n", i)}))
	}
	fetched(t, m, "main", "other")
	o.move("main", want[3])
	fetched(t, m, "main", "other")
	if err := m.Deepen(t.Context(), "main", hour(5)); err != nil {
		t.Fatal(err)
	}
	got := history(t, m, want[3])
	slices.Reverse(got)
	if !slices.Equal(got, want[1:]) {
		t.Errorf("history: %v, want %v", got, want[1:])
	}
}

// What a head changes can be seen also in a new mirror, and when a
// head was moved far back.
func TestFetch_headsOfANewMirror(t *testing.T) {
	t.Parallel()
	for name := range twoWays() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, ids := grown(t, 8)
			o.move("head", ids[1])
			head := o.commit("head", files{"h.yaml": "h: 1\n"})
			m := opened(t, ways(o)[name])
			changes := func(parent, head object.ID) {
				t.Helper()
				fetched(t, m, "main", "head")
				if changed, err := m.Objects.Changed(parent, head); err != nil || !slices.Equal(changed, []string{"h.yaml"}) {
					t.Errorf("%s changes %v, %v", head, changed, err)
				}
			}
			changes(ids[1], head)
			o.move("head", ids[0])
			changes(ids[0], o.commitAt("head", hour(1), files{"h.yaml": "h: 0\n"}))
			o.move("head", ids[3])
			changes(ids[3], o.commitAt("head", hour(4), files{"h.yaml": "h: 3\n"}))
		})
	}
}

// A branch that was deleted on the remote is removed from the mirror by any fetch:
// promotions leave many behind.
func TestFetch_forgetsBranchesThatAreGone(t *testing.T) {
	t.Parallel()
	o, ids := grown(t, 2)
	o.move("head", ids[1])
	o.commit("head", files{"h.yaml": "h: 1\n"})
	m := opened(t, o.remoteFile())
	fetched(t, m, "main", "head")
	o.move("head", object.ID{})
	fetched(t, m, "main")
	if id, ok := m.Have("head"); ok {
		t.Errorf("have %s", id)
	}
}

// With more branches than a pipe has room for, a server that refuses what is wanted ends before it
// has read all that we have. That is no other answer than none.
func TestFetch_manyBranches(t *testing.T) {
	t.Parallel()
	o, ids := grown(t, 8)
	var stream strings.Builder
	names := []string{"main"}
	for i := range 1500 {
		names = append(names, fmt.Sprintf("b%d", i))
		fmt.Fprintf(&stream, "commit refs/heads/b%d\ncommitter t <t@example.com> %d +0000\ndata 1\nm\nfrom %s\n", i, hour(9).Unix(), ids[7])
		fmt.Fprintf(&stream, "M 100644 inline b.yaml\ndata %d\nb: %d\n", len(fmt.Sprintf("b: %d", i)), i)
	}
	o.run(stream.String(), "fast-import", "--quiet")
	o.run("", "pack-refs", "--all")
	o.repack()
	for _, name := range []string{"file", "http", "ssh"} {
		t.Run(name, func(t *testing.T) {
			m := opened(t, allWays(o)[name])
			fetched(t, m, "main")
			fetched(t, m, names...)
			o.move("main", ids[2])
			defer o.move("main", ids[7])
			fetched(t, m, names...)
			same(t, m, o, ids[2])
			if got := history(t, m, ids[2]); len(got) != 2 || got[1] != ids[1] {
				t.Errorf("history: %v", got)
			}
		})
	}
}
