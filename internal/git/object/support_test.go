package object_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// repo is a bare repository on disk that Git itself can judge.
type repo struct {
	*object.Store
	dir   string
	store *counted
}

// newRepo makes an empty repository.
func newRepo(t testing.TB) *repo {
	t.Helper()
	dir := t.TempDir()
	gittest.Exec(t, dir, "init", "-q", "--bare", "-b", "main", ".")
	return openRepo(dir)
}

// openRepo opens a repository again, as after a restart.
func openRepo(dir string) *repo {
	options := filesystem.Options{KeepDescriptors: true}
	store := &counted{Storage: filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(16<<20), options)}
	return &repo{Store: object.New(store, nil, object.NewCache()), dir: dir, store: store}
}

// counted counts the objects that are read, and can fail to write.
type counted struct {
	*filesystem.Storage
	trees, blobs int
	full         map[plumbing.ObjectType]bool // kinds for which the disk has no room
}

func (c *counted) SetEncodedObject(encoded plumbing.EncodedObject) (plumbing.Hash, error) {
	if c.full[encoded.Type()] {
		return plumbing.ZeroHash, errors.New("no space left")
	}
	return c.Storage.SetEncodedObject(encoded)
}

func (c *counted) EncodedObject(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	switch kind {
	case plumbing.TreeObject:
		c.trees++
	case plumbing.BlobObject:
		c.blobs++
	}
	return c.Storage.EncodedObject(kind, id)
}

// importFiles has Git make one commit of the files.
func (r *repo) importFiles(t testing.TB, branch string, files iter.Seq2[string, []byte]) object.ID {
	t.Helper()
	var input strings.Builder
	fmt.Fprintf(&input, "commit refs/heads/%s\ncommitter A <a@example.com> 1700000000 +0000\ndata 7\nimport\n\n", branch)
	for name, content := range files {
		fmt.Fprintf(&input, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
	}
	gittest.ExecWithInput(t, r.dir, input.String(), "fast-import", "--quiet", "--force")
	return parse(t, gittest.Exec(t, r.dir, "rev-parse", "refs/heads/"+branch))
}

func parse(t testing.TB, id string) object.ID {
	t.Helper()
	parsed, err := object.ParseID(strings.TrimSpace(id))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// someone signs a minute after the last import.
func someone() object.Signature {
	return object.Signature{Name: "Prö Moter", Email: "bot@example.com", When: time.Unix(1_700_000_060, 0).In(time.FixedZone("", -7*1800))}
}

// draft is one on top of a commit.
func draft(parent object.ID, write map[string]string, drop ...string) object.Draft {
	d := object.Draft{Parent: parent, Write: map[string][]byte{}, Delete: drop, Author: someone(), Committer: someone(), Message: "Move web"}
	for name, content := range write {
		d.Write[name] = []byte(content)
	}
	return d
}

func (r *repo) write(t testing.TB, d object.Draft) object.ID {
	t.Helper()
	id, err := r.Write(d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// fsck has Git check every object that the commits reach.
func (r *repo) fsck(t testing.TB, commits ...object.ID) {
	t.Helper()
	args := []string{"fsck", "--strict", "--no-dangling", "--no-progress"}
	for _, id := range commits {
		args = append(args, id.String())
	}
	if said := gittest.Exec(t, r.dir, args...); said != "" {
		t.Errorf("git fsck: %s", said)
	}
}

// gitWrites has Git make the commit of a draft with an index, and returns its id.
func (r *repo) gitWrites(t testing.TB, d object.Draft) string {
	t.Helper()
	index := filepath.Join(t.TempDir(), "index")
	run := func(stdin string, args ...string) string {
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir, command.Stdin = r.dir, strings.NewReader(stdin)
		command.Env = append(gittest.Environ(), "GIT_INDEX_FILE="+index,
			"GIT_AUTHOR_NAME="+d.Author.Name, "GIT_AUTHOR_EMAIL="+d.Author.Email, "GIT_AUTHOR_DATE="+gitDate(d.Author.When),
			"GIT_COMMITTER_NAME="+d.Committer.Name, "GIT_COMMITTER_EMAIL="+d.Committer.Email, "GIT_COMMITTER_DATE="+gitDate(d.Committer.When))
		command.Stderr = os.Stderr
		output, err := command.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(output))
	}
	var parent []string
	if !d.Parent.IsZero() {
		run("", "read-tree", d.Parent.String())
		parent = []string{"-p", d.Parent.String()}
	}
	var info strings.Builder
	for _, name := range d.Delete {
		info.WriteString("0 " + object.ID{}.String() + "\t" + name + "\x00")
	}
	for name, content := range d.Write {
		mode := "100644"
		if now := run("", "ls-files", "-s", "--", ":(literal)"+name); now != "" {
			mode = now[:6]
		}
		info.WriteString(mode + " " + run(string(content), "hash-object", "-w", "--stdin") + "\t" + name + "\x00")
	}
	run(info.String(), "update-index", "-z", "--add", "--index-info")
	message, err := d.Trailers.Message(d.Message)
	if err != nil {
		t.Fatal(err)
	}
	return run(message, append([]string{"commit-tree", run("", "write-tree"), "-F", "-"}, parent...)...)
}

func gitDate(when time.Time) string { return fmt.Sprintf("@%d %s", when.Unix(), when.Format("-0700")) }

// contents reads all files of a commit.
func (r *repo) contents(t testing.TB, commit object.ID) map[string]string {
	t.Helper()
	tree, err := r.Tree(commit)
	if err != nil {
		t.Fatal(err)
	}
	found, err := list(tree)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// treeOf opens a branch of origin in a clone.
func treeOf(t *testing.T, c *gittest.Clone, branch string) *object.Tree {
	t.Helper()
	reference, err := c.Storer.Reference(plumbing.NewRemoteReferenceName("origin", branch))
	if err != nil {
		t.Fatal(err)
	}
	store := object.New(c.Storer, nil, object.NewCache())
	commit, err := store.Commit(object.ID(reference.Hash()))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := store.Subtree(commit.Tree, "", branch)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// list reads a whole tree: contents by path, marked for what is not a regular file.
func list(tree *object.Tree) (map[string]string, error) {
	found := map[string]string{}
	for e, err := range tree.Files() {
		if err != nil {
			return found, err
		}
		switch e.Mode {
		case object.Submodule:
			found[e.Path] = "submodule"
			continue
		case object.Symlink:
			found[e.Path] = "symlink "
		}
		content, err := e.Read(1 << 20)
		if err != nil {
			return found, err
		}
		found[e.Path] += string(content)
	}
	return found, nil
}
