package git_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"promoter/internal/git"
)

// Packs of many fetches become one, and nothing is lost by it.
func TestFetch_tidy(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(30))
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	fresh := written(t, m, main, files{"fresh.yaml": "fresh\n"})
	for i := range 40 {
		main = o.commit("main", files{"a.yaml": fmt.Sprintf("a: %d\n", i)})
		fetched(t, m, "main")
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*"))
	if err != nil || len(packs) > 2*33 {
		t.Errorf("%d files: %v", len(packs), err)
	}
	same(t, m, o, main)
	if got := history(t, m, main); len(got) != 41 {
		t.Errorf("%d commits", len(got))
	}
	if err := m.Push(t.Context(), git.Update{Branch: "fresh", New: fresh}); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openedIn(t, dir, o.remoteFile())
	if id, _ := m.Have("main"); id != main {
		t.Errorf("have %s", id)
	}
	same(t, m, o, main)
	same(t, m, o, fresh)
}
