package git_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git"
)

// twoWays are the transports that stories about history are told over.
func twoWays() map[string]bool { return map[string]bool{"file": true, "http": true} }

// hour is when the n-th commit of an origin is made.
func hour(n int) time.Time { return epoch.Add(time.Duration(n) * time.Hour) }

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
