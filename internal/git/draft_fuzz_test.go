package git_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
)

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
		written, check := git.NewObjects(memory.NewStorage(), nil), func(git.ID) {}
		if shown == shownToGit {
			r := newRepo(t)
			written, check = r.Objects, func(id git.ID) { r.fsck(t, id) }
		}
		parent, files := tryDraft(t, written, git.ID{}, nil, first)
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
func tryDraft(t *testing.T, o *git.Objects, parent git.ID, files map[string]string, paths string) (git.ID, map[string]string) {
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
		return git.ID{}, nil
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

// Messages out of pieces that matter to Git, thousands of them.
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
