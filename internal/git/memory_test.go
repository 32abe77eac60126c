package git_test

import (
	"path/filepath"
	"testing"

	"promoter/internal/git"
)

func TestMemory_readsIndexesOnce(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", many(30))
	dir, memory := filepath.Join(t.TempDir(), "mirror"), git.NewMemory(1<<20)
	remember := func(options *git.Options) { options.Memory = memory }
	m := openedIn(t, dir, o.remoteFile(), remember)
	fetched(t, m, "main")
	closed(t, m)
	remove(t, one(t, dir, "*.idx")) // it is not read again
	m = openedIn(t, dir, o.remoteFile(), remember)
	if have, ok := m.Have("main"); !ok || have != head {
		t.Fatalf("the mirror was emptied: it has %s", have)
	}
	same(t, m, o, head)
	closed(t, m)
	if m = openedIn(t, dir, o.remoteFile(), remember); has(m, "main") {
		t.Fatal("a mirror without an index was not emptied")
	}
}

func TestMemory_noticesOtherPacks(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(30))
	dir, memory := filepath.Join(t.TempDir(), "mirror"), git.NewMemory(1<<20)
	remember := func(options *git.Options) { options.Memory = memory }
	m := openedIn(t, dir, o.remoteFile(), remember)
	fetched(t, m, "main")
	closed(t, m)

	head := o.commit("main", files{"new.yaml": "new"})
	another := openedIn(t, dir, o.remoteFile()) // as another process does
	fetched(t, another, "main")
	closed(t, another)

	m = openedIn(t, dir, o.remoteFile(), remember)
	if !has(m, "main") {
		t.Fatal("the mirror was emptied")
	}
	same(t, m, o, head)
}

func TestMemory_keepsNothingThatWasNotPushed(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(300))
	dir, memory := filepath.Join(t.TempDir(), "mirror"), git.NewMemory(1<<20)
	remember := func(options *git.Options) { options.Memory = memory }
	m := openedIn(t, dir, o.remoteFile(), remember)
	commit := written(t, m, fetched(t, m, "main")["main"], files{"new.yaml": "new"})
	if _, err := m.Objects.Commit(commit); err != nil {
		t.Fatal(err)
	}
	closed(t, m)
	m = openedIn(t, dir, o.remoteFile(), remember)
	if _, err := m.Objects.Commit(commit); err == nil {
		t.Fatal("the mirror has a commit that was not pushed")
	}
}

func has(m *git.Mirror, branch string) bool {
	_, ok := m.Have(branch)
	return ok
}

func closed(t *testing.T, m *git.Mirror) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
