package git_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"promoter/internal/git"
)

// manyVersions makes commits that each change one file below a folder of 3,000
// others, whose tree has more bytes than one copy of a delta can have.
func manyVersions(t testing.TB, r *repo, commits int) (first, tip git.ID) {
	t.Helper()
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("apps/service-%04d/kustomization.yaml", i)] = fmt.Sprint(i % 7)
	}
	first = r.write(t, draft(git.ID{}, files))
	tip = first
	for i := range commits {
		tip = r.write(t, draft(tip, map[string]string{fmt.Sprintf("apps/service-%04d/kustomization.yaml", i*31%3000): fmt.Sprint("new ", i)}))
	}
	return first, tip
}

// A large folder that changes with each commit is in the pack once, and as what
// differs for the other commits; Git reads the same objects from it, also when there
// are more versions than one chain of deltas may have.
func TestPack_versionsOfALargeFolder(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	first, tip := manyVersions(t, r, 120)
	var pack bytes.Buffer
	count, err := r.Pack(&pack, tip, first)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(r.revList(t, tip, first)); count != want {
		t.Errorf("%d objects, and %d by Git", count, want)
	}
	if size, whole := pack.Len(), 5*3000*30; size > whole {
		t.Errorf("the pack has %d bytes, and five versions of the folder have %d", size, whole)
	}
	dir := filepath.Join(t.TempDir(), "other.git")
	askGit(t, "", "clone", "-q", "--bare", r.dir, dir)
	askGit(t, dir, "update-ref", "refs/heads/first", first.String())
	if out := tellGit(t, dir, pack.Bytes(), "index-pack", "--stdin", "--strict"); !strings.Contains(out, "pack") {
		t.Errorf("index-pack: %s", out)
	}
	if got, want := askGit(t, dir, "rev-list", "--objects", tip.String()), askGit(t, r.dir, "rev-list", "--objects", tip.String()); got != want {
		t.Error("Git reads something else from it")
	}
}

func FuzzDelta(f *testing.F) {
	f.Add("", "")
	f.Add("one\ntwo\nthree", "one\n2\nthree")
	f.Add("aaaa", "aaa")
	f.Add(strings.Repeat("x", 300), strings.Repeat("x", 260)+"y"+strings.Repeat("x", 90))
	f.Fuzz(func(t *testing.T, base, content string) {
		if base == "" {
			return // the library holds a delta of nothing for broken
		}
		made, err := packfile.PatchDelta([]byte(base), git.Delta(base, content))
		if err != nil || string(made) != content {
			t.Errorf("from %q: %q, %v, want %q", base, made, err, content)
		}
	})
}
