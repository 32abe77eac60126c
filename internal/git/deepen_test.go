package git_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git/object"
)

func TestDeepen_readsFurtherBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.commit("main", many(30))
			var ids []object.ID
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
			if got := history(t, m, next); !slices.Equal(got, append([]object.ID{next}, ids[:11]...)) {
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
