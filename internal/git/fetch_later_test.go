package git_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"promoter/internal/git"
)

// A branch that comes later is mostly one commit over a branch that is there. What
// it changes can be seen, and the history that is there stays.
func TestFetch_laterBranches(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", many(30))
			var ids []git.ID
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
			for head, parent := range map[git.ID]git.ID{old: ids[1], fresh: ids[5]} {
				if changed, err := m.Changed(parent, head); err != nil || !slices.Equal(changed, []string{"v.yaml"}) {
					t.Errorf("%s changes %v, %v", head, changed, err)
				}
			}
			want := []git.ID{fresh, ids[5], ids[4], ids[3], ids[2], ids[1]} // the last one came with the old branch
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
