package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

func TestOpenCheckout_outsideEveryClone(t *testing.T) {
	t.Parallel()
	_, err := git.OpenCheckout(t.TempDir())
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "is not in a Git repository") {
		t.Errorf("error: %v", err)
	}
}

func TestOpenCheckout_unreadable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ file, content string }{
		"a gitfile that names nothing": {".git", "nonsense\n"},
		"a config that does not parse": {".git/config", "[core\n"},
		"a sparse checkout":            {".git/config", "[core]\n\trepositoryformatversion = 0\n[extensions]\n\tworktreeConfig = true\n"},
		"an unknown extension":         {".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := gittest.NewClone(t)
			if test.file == ".git" {
				remove(t, filepath.Join(c.Dir, ".git"))
			}
			write(t, filepath.Join(c.Dir, test.file), test.content)
			_, err := git.OpenCheckout(c.Dir)
			if err == nil || !strings.HasPrefix(err.Error(), "open the Git repository of "+c.Dir+": ") {
				t.Errorf("error: %v", err)
			}
			if fault.KindOf(err) == fault.NotFound {
				t.Error("a repository that cannot be read is taken for none")
			}
		})
	}
}

func TestCheckout_Branch(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	commit := c.Commit(c.Files(map[string]string{"a.yaml": "a"}))
	for name, test := range map[string]struct {
		head *plumbing.Reference
		want string
	}{
		"on a branch without a commit":  {plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/main"), "main"},
		"on a branch with slashes":      {plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/env/prod"), "env/prod"},
		"on a branch named like a kind": {plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/heads/x"), "heads/x"},
		"with a detached head":          {plumbing.NewHashReference(plumbing.HEAD, commit), ""},
	} {
		c.Reference(test.head)
		if got := openClone(t, c, "").Branch(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestCheckout_DetachedAt(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	commit := c.Commit(c.Files(map[string]string{"a.yaml": "a"}))
	c.Origin("main", c.Commit(c.Files(map[string]string{"a.yaml": "b"})))
	c.Origin("env/prod", commit)
	c.Origin("env/eu", commit)
	c.Reference(plumbing.NewHashReference("refs/heads/local", commit))
	c.Reference(plumbing.NewSymbolicReference(plumbing.NewRemoteHEADReferenceName("origin"), "refs/remotes/origin/env/prod"))
	for name, test := range map[string]struct {
		head *plumbing.Reference
		want []string
	}{
		"a branch":              {plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/local"), nil},
		"a commit":              {plumbing.NewHashReference(plumbing.HEAD, commit), []string{"env/eu", "env/prod"}},
		"a commit of no branch": {plumbing.NewHashReference(plumbing.HEAD, c.Commit(c.Files(nil))), nil},
	} {
		c.Reference(test.head)
		got, err := openClone(t, c, "").DetachedAt()
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestCheckout_DefaultBranch(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	if name, err := openClone(t, c, "").DefaultBranch(); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a clone without the default branch: %q, %v", name, err)
	}
	head := plumbing.NewRemoteHEADReferenceName("origin")
	c.Reference(plumbing.NewSymbolicReference(head, plumbing.NewRemoteReferenceName("origin", "release/main")))
	if name, err := openClone(t, c, "").DefaultBranch(); name != "release/main" || err != nil {
		t.Errorf("got %q, %v", name, err)
	}
	c.Reference(plumbing.NewHashReference(head, c.Commit(c.Files(nil))))
	if name, err := openClone(t, c, "").DefaultBranch(); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a head that is no branch: %q, %v", name, err)
	}
}

func TestCheckout_Revision(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	commit := c.Commit(c.Files(map[string]string{"app/a.yaml": "a"}))
	c.Origin("main", commit)
	for _, revision := range []string{"origin/main", commit.String()} {
		tree, err := openClone(t, c, "").Revision(revision)
		if err != nil {
			t.Fatal(err)
		}
		if entry, err := tree.Entry("app/a.yaml"); err != nil || entry.Path != "app/a.yaml" {
			t.Errorf("%s: %v, %v", revision, entry.Path, err)
		}
	}
	for _, revision := range []string{"", "origin/none", "-x", "HEAD^{/.*", "1234567890123456789012345678901234567890"} {
		if _, err := openClone(t, c, "").Revision(revision); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %v", revision, err)
		}
	}
}

func TestCheckout_Remote_missing(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	_, err := openClone(t, c, "").Remote("env/prod")
	if fault.KindOf(err) != fault.NotFound || err.Error() != "origin/env/prod is not in this clone" {
		t.Errorf("a branch that is not in the clone: %v", err)
	}

	gone := plumbing.NewHash("1234567890123456789012345678901234567890")
	c.Origin("no-commit", gone)
	c.Origin("no-tree", c.Commit(gone))
	c.Origin("no-folder", c.Commit(c.Tree(gittest.Entry(filemode.Dir, "apps", gone))))
	for branch, want := range map[string]string{
		"no-commit": "read the commit of origin/no-commit: ",
		"no-tree":   "read the tree of no-tree: ",
	} {
		_, err := openClone(t, c, "").Remote(branch)
		if err == nil || !strings.HasPrefix(err.Error(), want) || fault.KindOf(err) == fault.NotFound {
			t.Errorf("%s: %v", branch, err)
		}
	}
	_, err = list(treeOf(t, openClone(t, c, ""), "no-folder"))
	if err == nil || !strings.HasPrefix(err.Error(), "read the directory apps of no-folder: ") {
		t.Errorf("a folder that is missing: %v", err)
	}
	mkdir(t, filepath.Join(c.Dir, "apps"))
	_, err = openClone(t, c, "apps").Remote("no-folder")
	if err == nil || !strings.HasPrefix(err.Error(), "read the directory apps of no-folder: ") {
		t.Errorf("the checkout's folder is missing: %v", err)
	}
}

// The folder may lie anywhere in the clone; paths are relative to it.
func TestCheckout_Remote_folder(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	c.Origin("main", c.Commit(c.Files(map[string]string{
		"root.yaml":           "root",
		"deploy/web/a.yaml":   "a",
		"deploy/web/b/c.yaml": "c",
		"..odd/o.yaml":        "o",
		"file":                "no folder here",
	})))
	for _, folder := range []string{"deploy/web/b", "..odd", "new", "file-here/sub"} {
		mkdir(t, filepath.Join(c.Dir, folder))
	}
	elsewhere := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(c.Dir, "deploy"), elsewhere); err != nil {
		t.Fatal(err)
	}
	web := map[string]string{"a.yaml": "a", "b/c.yaml": "c"}
	for name, test := range map[string]struct {
		dir  string
		want map[string]string
	}{
		"a folder":                          {filepath.Join(c.Dir, "deploy/web"), web},
		"with a slash at the end":           {filepath.Join(c.Dir, "deploy/web") + "/", web},
		"with dots in the way":              {c.Dir + "/deploy/../deploy/./web", web},
		"through a symbolic link":           {elsewhere + "/web", web},
		"whose name begins with two dots":   {filepath.Join(c.Dir, "..odd"), map[string]string{"o.yaml": "o"}},
		"that the branch does not have":     {filepath.Join(c.Dir, "new"), map[string]string{}},
		"below what the branch has no more": {filepath.Join(c.Dir, "file-here/sub"), map[string]string{}},
	} {
		got, err := list(treeOf(t, open(t, test.dir), "main"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	// A file where the checkout has a folder is no folder of the branch.
	remove(t, filepath.Join(c.Dir, "file"))
	mkdir(t, filepath.Join(c.Dir, "file/sub"))
	for _, folder := range []string{"file", "file/sub"} {
		if got, err := list(treeOf(t, openClone(t, c, folder), "main")); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", folder, got, err)
		}
	}
}

// TestRealGit reads what Git itself writes: linked worktrees, packed references
// and packed objects.
func TestRealGit(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	origin, clone, linked := filepath.Join(base, "origin"), filepath.Join(base, "clone"), filepath.Join(base, "linked")
	gittest.Exec(t, base, "init", "-q", "-b", "trunk", origin)
	write(t, filepath.Join(origin, "a.yaml"), "trunk\n")
	mkdir(t, filepath.Join(origin, "deploy"))
	write(t, filepath.Join(origin, "deploy", "b.yaml"), "b\n")
	gittest.Exec(t, origin, "add", "-A")
	gittest.Exec(t, origin, "commit", "-qm", "one")
	gittest.Exec(t, origin, "checkout", "-qb", "env/prod")
	write(t, filepath.Join(origin, "a.yaml"), "prod\n")
	gittest.Exec(t, origin, "commit", "-qam", "two")
	gittest.Exec(t, origin, "checkout", "-q", "trunk")
	gittest.Exec(t, base, "clone", "-q", origin, clone)
	gittest.Exec(t, clone, "pack-refs", "--all")
	gittest.Exec(t, clone, "gc", "-q")
	gittest.Exec(t, clone, "worktree", "add", "-q", "-b", "mine", linked)

	for dir, branch := range map[string]string{clone: "trunk", linked: "mine", filepath.Join(linked, "deploy"): "mine"} {
		checkout := open(t, dir)
		if got := checkout.Branch(); got != branch {
			t.Errorf("%s is on %q, want %q", dir, got, branch)
		}
		if got, err := checkout.DefaultBranch(); got != "trunk" || err != nil {
			t.Errorf("%s: default branch %q, %v", dir, got, err)
		}
	}
	got, err := list(treeOf(t, open(t, linked), "env/prod"))
	if diff := cmp.Diff(map[string]string{"a.yaml": "prod\n", "deploy/b.yaml": "b\n"}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	got, err = list(treeOf(t, open(t, filepath.Join(linked, "deploy")), "env/prod"))
	if diff := cmp.Diff(map[string]string{"b.yaml": "b\n"}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(name, 0o700); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

func openClone(t *testing.T, c *gittest.Clone, directory string) *git.Checkout {
	t.Helper()
	return open(t, filepath.Join(c.Dir, directory))
}

func open(t *testing.T, dir string) *git.Checkout {
	t.Helper()
	checkout, err := git.OpenCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	return checkout
}

// treeOf opens a branch of origin.
func treeOf(t *testing.T, checkout *git.Checkout, branch string) *object.Tree {
	t.Helper()
	tree, err := checkout.Remote(branch)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
