package git_test

import (
	"fmt"
	"slices"
	"testing"

	"promoter/internal/git"
)

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
			if got := history(t, m, next); !slices.Equal(got, []git.ID{next, merged, first}) {
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
				var line []git.ID
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
