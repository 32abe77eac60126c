package git_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"promoter/internal/git"
)

// grown is an origin with so many commits on main, oldest first.
func grown(t *testing.T, n int) (*origin, []git.ID) {
	t.Helper()
	o := newOrigin(t)
	ids := []git.ID{o.commit("main", many(30))}
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
			if got := history(t, m, next); !slices.Equal(got, []git.ID{next, first}) {
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
	want := []git.ID{ids[1]}
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

// What a head changes can be seen too when the mirror was made anew, and when a
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
			changes := func(parent, head git.ID) {
				t.Helper()
				fetched(t, m, "main", "head")
				if changed, err := m.Changed(parent, head); err != nil || !slices.Equal(changed, []string{"h.yaml"}) {
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

// A branch that the remote does not have any more leaves the mirror whoever asks
// for what: promotions leave many behind.
func TestFetch_forgetsBranchesThatAreGone(t *testing.T) {
	t.Parallel()
	o, ids := grown(t, 2)
	o.move("head", ids[1])
	o.commit("head", files{"h.yaml": "h: 1\n"})
	m := opened(t, o.remoteFile())
	fetched(t, m, "main", "head")
	o.move("head", git.ID{})
	fetched(t, m, "main")
	if id, ok := m.Have("head"); ok {
		t.Errorf("have %s", id)
	}
}
