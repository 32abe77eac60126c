package object_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// base are files whose names Git orders differently when they are folders.
func base() map[string]string {
	return map[string]string{
		"a.b": "dot", "a-b": "hyphen", "a/b": "below", "a/c/d": "deep", "a0": "zero", "b": "b\r\nc\r\n",
		"apps/web/prod/kustomization.yaml": "newTag: 1.4.2 # released\n",
		"ünï/cödé \"q\"\t.yaml":            "odd\n", "..odd": "two dots", ".gitignore": "x", ".github/w.yaml": "y",
	}
}

// Every commit is, to the byte, the one that Git makes.
func TestWrite_asGitDoes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	first := draft(object.ID{}, base())
	parent := r.write(t, first)
	if want := r.gitWrites(t, first); parent.String() != want {
		t.Errorf("the first commit is %s, and Git's %s", parent, want)
	}
	trailers := draft(parent, map[string]string{"b": "B"})
	trailers.Trailers = object.Trailers{{Key: "Promoter-Environment", Value: "prod"}, {Key: "Promoter-Image", Value: "web=r/web:1@sha256:00"}}
	author := draft(parent, map[string]string{"b": "B"})
	author.Author = object.Signature{Name: " ,Ünï <\u202e>\x07; ", Email: "a b@\nexample.com.", When: time.Unix(1, 0).UTC()}
	for name, d := range map[string]object.Draft{
		"one file":                        draft(parent, map[string]string{"apps/web/prod/kustomization.yaml": "newTag: 1.4.3 # released\n"}),
		"mixed line ends and no last one": draft(parent, map[string]string{"b": "b\r\nc\nd"}),
		"an empty file":                   draft(parent, map[string]string{"b": ""}),
		"new files between others":        draft(parent, map[string]string{"a+": "", "a.": "", "a/a": "", "a/c.": "", "A": "", "~": ""}),
		"new folders between files":       draft(parent, map[string]string{"a-/x": "", "a.c/d": "", "a.b.c/d": "", "a00/x": "", "z/y/x/w": ""}),
		"a file deleted":                  draft(parent, nil, "a/b"),
		"a folder emptied":                draft(parent, nil, "a/c/d"),
		"folders emptied upwards":         draft(parent, nil, "apps/web/prod/kustomization.yaml"),
		"a folder emptied and filled":     draft(parent, map[string]string{"a/x": "x"}, "a/b", "a/c/d"),
		"names that only look bad":        draft(parent, map[string]string{"...": "", ".gitx": "", "x.git/y": "", "git~2": "", "..odd": "new"}),
		"no file left":                    draft(parent, nil, slices.Collect(maps.Keys(base()))...),
		"trailers":                        trailers,
		"a signature to be cleaned":       author,
	} {
		got := r.write(t, d)
		if want := r.gitWrites(t, d); got.String() != want {
			t.Errorf("%s: the commit is %s, and Git's %s\n%s\n%s", name, got, want,
				gittest.Exec(t, r.dir, "cat-file", "-p", got.String()), gittest.Exec(t, r.dir, "cat-file", "-p", want))
		}
		r.fsck(t, got)
		touched := slices.Sorted(maps.Keys(d.Write))
		touched = append(touched, d.Delete...)
		slices.Sort(touched)
		changed, err := r.Changed(parent, got)
		slices.Sort(changed)
		if diff := cmp.Diff(touched, changed); diff != "" || err != nil {
			t.Errorf("%s: %v (-touched +changed):\n%s", name, err, diff)
		}
	}
}

// Drafts of all sorts, each on top of the last, by the index and by us.
func TestWrite_chain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 7))
	r := newRepo(t)
	want := map[string]string{}
	var parent object.ID
	for step := range 25 {
		d := randomDraft(random, parent, want)
		got := r.write(t, d)
		if made := r.gitWrites(t, d); len(want) > 0 && got != parent && got.String() != made {
			t.Fatalf("step %d: the commit is %s, and Git's %s", step, got, made)
		}
		if diff := cmp.Diff(want, r.contents(t, got)); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", step, diff)
		}
		parent = got
	}
	r.fsck(t, parent)
	if diff := cmp.Diff(want, openRepo(r.dir).contents(t, parent)); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

// randomDraft changes some files, and the same in the map.
func randomDraft(random *rand.Rand, parent object.ID, files map[string]string) object.Draft {
	d := draft(parent, nil)
	segments := []string{"a", "a-", "a.", "a0", "A", "b", "é"}
	for range 1 + random.IntN(6) {
		name := segments[random.IntN(len(segments))]
		for random.IntN(3) > 0 {
			name += "/" + segments[random.IntN(len(segments))]
		}
		if d.Write[name] != nil || inTheWay(files, name) || slices.ContainsFunc(d.Delete, func(gone string) bool { return related(gone, name) }) {
			continue
		}
		if _, ok := files[name]; ok && random.IntN(2) == 0 && len(files) > 1 {
			d.Delete = append(d.Delete, name)
			delete(files, name)
			continue
		}
		files[name] = string(rune('a' + random.IntN(26)))
		d.Write[name] = []byte(files[name])
	}
	return d
}

// inTheWay reports whether a file lies above or below the path.
func inTheWay(files map[string]string, name string) bool {
	for other := range files {
		if other != name && related(other, name) {
			return true
		}
	}
	return false
}

// related reports whether one path is the other, or a folder above it.
func related(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// modes is a commit whose files have all modes that Git ever had.
func (r *repo) modes(t *testing.T) object.ID {
	t.Helper()
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	return object.ID(c.Commit(c.Tree(
		gittest.Entry(filemode.Regular, "file", c.Blob("f")),
		gittest.Entry(filemode.Dir, "folder", c.Files(map[string]string{"x": "x"})),
		gittest.Entry(filemode.Symlink, "link", c.Blob("file")),
		gittest.Entry(filemode.Submodule, "module", plumbing.NewHash("1234567890123456789012345678901234567890")),
		gittest.Entry(filemode.Deprecated, "old", c.Blob("o")),
		gittest.Entry(filemode.Executable, "run", c.Blob("r")),
	)))
}

func TestWrite_keepsModes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	got := r.write(t, draft(r.modes(t), map[string]string{"run": "R", "old": "O", "file": "F", "folder/new": "N"}, "link"))
	want := []string{"100644 file", "100644 folder/new", "100644 folder/x", "160000 module", "100644 old", "100755 run"}
	var modes []string
	for text := range strings.Lines(gittest.Exec(t, r.dir, "ls-tree", "-r", got.String())) {
		fields := strings.Fields(text)
		modes = append(modes, fields[0]+" "+fields[3])
	}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Git shows the one odd mode as a usual one.
	if raw := gittest.Exec(t, r.dir, "cat-file", "tree", got.String()+"^{tree}"); !strings.Contains(raw, "100664 old\x00") {
		t.Errorf("the mode of old: %q", raw)
	}
}

func TestWrite_nothingChanges(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	parent := r.write(t, draft(object.ID{}, base()))
	empty := r.write(t, draft(parent, nil, slices.Collect(maps.Keys(base()))...))
	before := gittest.Exec(t, r.dir, "count-objects")
	for name, d := range map[string]object.Draft{
		"no change":                  draft(parent, nil),
		"the same contents":          draft(parent, base()),
		"no change of no file":       draft(empty, nil),
		"the same content of a file": draft(parent, map[string]string{"a/b": "below"}),
	} {
		if got := r.write(t, d); got != d.Parent {
			t.Errorf("%s: got %s, want the parent %s", name, got, d.Parent)
		}
	}
	if after := gittest.Exec(t, r.dir, "count-objects"); after != before {
		t.Errorf("objects before: %s, after: %s", before, after)
	}
}

func TestWrite_refused(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	modes := r.modes(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	disordered := object.ID(c.Commit(c.Tree(gittest.Entry(filemode.Regular, "b", c.Blob("b")), gittest.Entry(filemode.Regular, "a", c.Blob("a")))))
	double := object.ID(c.Commit(c.Tree(gittest.Entry(filemode.Regular, "a", c.Blob("b")), gittest.Entry(filemode.Regular, "a", c.Blob("a")))))
	malformed := object.ID(c.Commit(c.Put(plumbing.TreeObject, "100644 a")))
	nobody, never, silent := draft(modes, nil), draft(modes, nil), draft(modes, nil)
	nobody.Author.Name, never.Committer.When, silent.Message = " <> ", time.Time{}, " "
	long := strings.Repeat("x", 4097)
	for name, test := range map[string]struct {
		draft object.Draft
		kind  fault.Kind
		words string
	}{
		"below a file":               {draft(modes, map[string]string{"file/x": ""}), fault.Invalid, "file is not a directory"},
		"below a link":               {draft(modes, map[string]string{"link/x": ""}), fault.Invalid, "link is not a directory"},
		"below a submodule":          {draft(modes, nil, "module/x"), fault.Invalid, "module is not a directory"},
		"over a folder":              {draft(modes, map[string]string{"folder": ""}), fault.Invalid, "folder is a directory, not a file"},
		"over a link":                {draft(modes, map[string]string{"link": ""}), fault.Invalid, "link is not a regular file"},
		"over a submodule":           {draft(modes, map[string]string{"module": ""}), fault.Invalid, "module is not a regular file"},
		"a folder deleted":           {draft(modes, nil, "folder"), fault.Invalid, "folder is a directory, not a file"},
		"deleted, but not there":     {draft(modes, nil, "folder/no"), fault.NotFound, "there is no file folder/no to delete"},
		"deleted, without a folder":  {draft(modes, nil, "no/no"), fault.NotFound, "there is no file no/no to delete"},
		"written and deleted":        {draft(modes, map[string]string{"file": ""}, "file"), fault.Invalid, "twice"},
		"a file and a folder":        {draft(modes, map[string]string{"n": "", "n/x": ""}), fault.Invalid, "twice"},
		"a deleted file's folder":    {draft(modes, map[string]string{"file/x": ""}, "file"), fault.Invalid, "twice"},
		"no parent that is here":     {draft(object.ID{1}, map[string]string{"x": ""}), fault.NotFound, "object not found"},
		"no parent and no file":      {draft(object.ID{}, nil), fault.Invalid, "a first commit needs a file"},
		"a disordered tree":          {draft(disordered, map[string]string{"c": ""}), fault.Invalid, "the directory / is not in Git's order"},
		"a name that is there twice": {draft(double, map[string]string{"a": ""}), fault.Invalid, "the directory / has two entries a"},
		"a malformed tree":           {draft(malformed, map[string]string{"a": ""}), fault.Invalid, "the tree is malformed at byte 0"},
		"without a name":             {nobody, fault.Invalid, "the author: a signature needs a name and an email address"},
		"without a time":             {never, fault.Invalid, "the committer: the signature of"},
		"without a message":          {silent, fault.Invalid, "a commit needs a message"},
		"a long path":                {draft(modes, map[string]string{long: ""}), fault.Invalid, "is not a valid path"},
		"a deep path":                {draft(modes, map[string]string{strings.Repeat("d/", 513) + "f": ""}), fault.Invalid, "is not a valid path"},
		"a large file":               {draft(modes, map[string]string{"x": string(make([]byte, 32<<20+1))}), fault.Invalid, "exceeds the limit"},
	} {
		got, err := r.Write(test.draft)
		if fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.words) || !got.IsZero() {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// Git's own check names these; a file system of some computer takes them for .git.
func TestWrite_badPaths(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a\x00b", ".git", ".git/config", "a/.git/x",
		".GIT", ".Git/x", "git~1", "GIT~1/x", ".git ", ".git.", ".git...", ".git::$INDEX_ALLOCATION/x", `a\.git\x`, ".g\u200cit", ".git\ufeff/x",
	} {
		for kind, d := range map[string]object.Draft{"written": draft(object.ID{}, map[string]string{name: ""}), "deleted": draft(object.ID{}, nil, name)} {
			if got, err := r.Write(d); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "is not a valid path") {
				t.Errorf("%q %s: %s, %v", name, kind, got, err)
			}
		}
	}
}

// What is not UTF-8 becomes harmless, and Git finds nothing to blame.
func TestWrite_notUTF8(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	d := draft(object.ID{}, map[string]string{"\xff.yaml": "\xfe\x00"})
	d.Author.Name, d.Committer.Email, d.Message = "\xff\nme", "a\xff@example.com", "t\xff\n\nbody \xff"
	id := r.write(t, d)
	r.fsck(t, id)
	commit, err := r.Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{commit.Author.Name, commit.Committer.Email, commit.Message}
	if diff := cmp.Diff([]string{"\uFFFDme", "a\uFFFD@example.com", "t\uFFFD\n\nbody \uFFFD\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"\xff.yaml": "\xfe\x00"}, r.contents(t, id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A full disk leaves no commit behind, and the next try is whole.
func TestWrite_fullDisk(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	d := draft(object.ID{}, base())
	// In the order of writing: what one try has stored, the next finds.
	for _, kind := range []plumbing.ObjectType{plumbing.BlobObject, plumbing.TreeObject, plumbing.CommitObject} {
		r.store.full = map[plumbing.ObjectType]bool{kind: true}
		id, err := r.Write(d)
		if !id.IsZero() || err == nil || !strings.Contains(err.Error(), "write the "+kind.String()+" ") || !strings.HasSuffix(err.Error(), ": no space left") {
			t.Errorf("%s: %s, %v", kind, id, err)
		}
	}
	r.store.full = nil
	id := r.write(t, d)
	r.fsck(t, id)
	r.store.full = map[plumbing.ObjectType]bool{plumbing.TreeObject: true}
	emptied := draft(id, nil, slices.Collect(maps.Keys(base()))...)
	if id, err := r.Write(emptied); !id.IsZero() || err == nil {
		t.Errorf("no file left: %s, %v", id, err)
	}
}

// shownToGit marks the inputs of FuzzWrite whose results Git checks, which takes
// many times as long as the rest.
const shownToGit = 77

// FuzzWrite writes any paths over any paths: what is read back is what was
// written, or the draft is refused. Some results are shown to Git.
func FuzzWrite(f *testing.F) {
	f.Add("a/b\na.b\na-b\na", "a/b\n!a.b\nnew/x", uint8(shownToGit))
	f.Add("a\nb\nc", "!a\n!b\n!c", uint8(1))
	f.Add("a/b\na.b\na-b", ".g\u200cit\n.gitx\n...\n~1", uint8(shownToGit))
	f.Add("a/b/c/d\na/b/e", "!a/b/c/d\na/b/c", uint8(1))
	f.Add(".git/config\n../x\n\xff\x00", "x//y\nGIT~1", uint8(1))
	f.Fuzz(func(t *testing.T, first, second string, shown uint8) {
		written, check := object.New(memory.NewStorage(), nil, object.NewCache()), func(object.ID) {}
		if shown == shownToGit {
			r := newRepo(t)
			written, check = r.Store, func(id object.ID) { r.fsck(t, id) }
		}
		parent, files := tryDraft(t, written, object.ID{}, nil, first)
		if parent.IsZero() {
			return
		}
		check(parent)
		if next, _ := tryDraft(t, written, parent, files, second); !next.IsZero() {
			check(next)
		}
	})
}

// tryDraft writes the paths, one in each line, and deletes those behind an
// exclamation mark. It returns the commit with its files.
func tryDraft(t *testing.T, o *object.Store, parent object.ID, files map[string]string, paths string) (object.ID, map[string]string) {
	t.Helper()
	d, want := draft(parent, nil), maps.Clone(files)
	if want == nil {
		want = map[string]string{}
	}
	for i, name := range strings.Split(paths, "\n") {
		if gone, drop := strings.CutPrefix(name, "!"); drop {
			d.Delete = append(d.Delete, gone)
			delete(want, gone)
			continue
		}
		content := strings.Repeat("x", i)
		d.Write[name], want[name] = []byte(content), content
	}
	id, err := o.Write(d)
	if err != nil {
		if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.NotFound || !id.IsZero() {
			t.Fatalf("%q over %q: %s, %v", paths, slices.Sorted(maps.Keys(files)), id, err)
		}
		return object.ID{}, nil
	}
	tree, err := o.Tree(id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := list(tree)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%q over %q: %v (-want +got):\n%s", paths, slices.Sorted(maps.Keys(files)), err, diff)
	}
	return id, want
}

// Random messages of parts that Git treats specially.
func TestParseTrailers_random(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"title", "Key: v", "Key", ":", " ", "\t", "\n", "\n", "\n\n", "#", "Signed-off-by: x", "(cherry picked from commit 1)",
		"words", "\r", "---\n", "Conflicts:\n", "\tpath\n", "# ------------------------ >8 ------------------------\n", "-", "é", "\x0b",
	}
	random := rand.New(rand.NewPCG(3, 7))
	for range 300 {
		var message strings.Builder
		message.WriteString("title\n\n")
		for range random.IntN(14) {
			message.WriteString(pieces[random.IntN(len(pieces))])
		}
		compareTrailers(t, message.String())
	}
}
