package git_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
)

func TestTree_modes(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.origin("main", c.commit(c.tree(
		entry{filemode.Regular, "a.yaml", c.blob("a")},
		entry{filemode.Dir, "empty", c.tree()},
		entry{filemode.Symlink, "link", c.blob("../outside")},
		entry{filemode.Submodule, "module", plumbing.NewHash("1234567890123456789012345678901234567890")},
		entry{filemode.Deprecated, "old.yaml", c.blob("group writable")},
		entry{filemode.Executable, "run.sh", c.blob("#!")},
		entry{filemode.Regular, "\xff\xfe odd\nname", c.blob("bytes")},
	)))
	got, err := list(treeOf(t, c.open(""), "main"))
	want := map[string]string{
		"a.yaml": "a", "link": "symlink ../outside", "module": "submodule",
		"old.yaml": "group writable", "run.sh": "#!", "\xff\xfe odd\nname": "bytes",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// No honest Git writes these names: they lead out of the folder.
func TestTree_hostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"..", ".", ".git", "a/b", "/", "../../etc/passwd", "/etc/passwd"} {
		for kind, mode := range map[string]filemode.FileMode{"file": filemode.Regular, "folder": filemode.Dir} {
			t.Run(fmt.Sprintf("%q as a %s", name, kind), func(t *testing.T) {
				t.Parallel()
				c := newClone(t)
				hash := c.blob("x")
				if mode == filemode.Dir {
					hash = c.files(map[string]string{"x": "x"})
				}
				inner := c.tree(entry{mode, name, hash})
				c.origin("main", c.commit(c.tree(entry{filemode.Dir, "apps", inner})))
				got, err := list(treeOf(t, c.open(""), "main"))
				if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "is no name that a file can have in main") {
					t.Errorf("error: %v", err)
				}
				if len(got) > 0 {
					t.Errorf("files: %v", got)
				}
			})
		}
	}
}

// chain makes a tree of folders in folders around one file.
func chain(c *clone, depth int) plumbing.Hash {
	tree := c.files(map[string]string{"deep.yaml": "x"})
	for range depth {
		tree = c.tree(entry{filemode.Dir, "d", tree})
	}
	return tree
}

func TestTree_depth(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.origin("deep", c.commit(chain(c, 500)))
	c.origin("deeper", c.commit(chain(c, 600)))
	if got, err := list(treeOf(t, c.open(""), "deep")); err != nil || len(got) != 1 {
		t.Errorf("%d files, %v", len(got), err)
	}
	_, err := list(treeOf(t, c.open(""), "deeper"))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "folders lie deeper than 512 in deeper") {
		t.Errorf("error: %v", err)
	}
}

// Forty trees that name each other twice stand for a million million files.
func TestTree_manyFilesFromFewObjects(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	tree := c.tree(entry{filemode.Regular, "a", c.blob("x")}, entry{filemode.Regular, "b", c.blob("x")})
	hollow := c.tree()
	for range 40 {
		tree = c.tree(entry{filemode.Dir, "a", tree}, entry{filemode.Dir, "b", tree})
		hollow = c.tree(entry{filemode.Dir, "a", hollow}, entry{filemode.Dir, "b", hollow})
	}
	c.origin("files", c.commit(tree))
	c.origin("folders", c.commit(hollow))
	for branch, want := range map[string]string{"files": "files has more than 1000 files", "folders": "folders has more than 2000 folders"} {
		bounded := treeOf(t, c.open(""), branch)
		bounded.Limit(1000, 2000)
		_, err := list(bounded)
		if fault.KindOf(err) != fault.Invalid || err.Error() != want {
			t.Errorf("%s: %v", branch, err)
		}
	}
}

func TestTree_stopsWhenTheReaderDoes(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.origin("main", c.commit(c.files(map[string]string{"a/b/c": "", "a/b/d": "", "e": ""})))
	var seen []string
	for e, err := range treeOf(t, c.open(""), "main").Files() {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.Path)
		break
	}
	if diff := cmp.Diff([]string{"a/b/c"}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestEntry_Read(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.origin("main", c.commit(c.tree(
		entry{filemode.Regular, "gone", plumbing.NewHash("1234567890123456789012345678901234567890")},
		entry{filemode.Regular, "large", c.blob(strings.Repeat("x", 100))},
		entry{filemode.Regular, "tree", c.tree()},
	)))
	entries := map[string]git.Entry{}
	for e, err := range treeOf(t, c.open(""), "main").Files() {
		if err != nil {
			t.Fatal(err)
		}
		entries[e.Path] = e
	}
	for limit, want := range map[int64]int{0: 1, 10: 11, 99: 100, 100: 100, 1000: 100} {
		content, err := entries["large"].Read(limit)
		if err != nil || len(content) != want {
			t.Errorf("limit %d: %d bytes, %v", limit, len(content), err)
		}
	}
	for _, name := range []string{"gone", "tree"} {
		_, err := entries[name].Read(10)
		if err == nil || !strings.HasPrefix(err.Error(), "read the blob of "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
