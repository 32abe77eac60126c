package git_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"promoter/internal/fault"
)

// A few trees with long names stand for more memory than any machine has: every
// file has its whole path.
func TestTree_longPaths(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	file := entry{filemode.Regular, "f", c.blob("x")}
	nested := func(name string, depth int) plumbing.Hash {
		tree := c.tree(file)
		for range depth {
			tree = c.tree(entry{filemode.Dir, name, tree})
		}
		return tree
	}
	fits := strings.Repeat("n", 4000)
	c.origin("fits", c.commit(nested(fits, 1)))
	c.origin("one", c.commit(nested(strings.Repeat("n", 5000), 1)))
	c.origin("sum", c.commit(nested(fits, 2)))
	c.origin("file", c.commit(c.tree(entry{filemode.Regular, strings.Repeat("n", 5000), file.hash})))
	if got, err := list(treeOf(t, c.open(""), "fits")); err != nil || len(got) != 1 {
		t.Errorf("%d files, %v", len(got), err)
	}
	for _, branch := range []string{"one", "sum", "file"} {
		_, err := list(treeOf(t, c.open(""), branch))
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "a path of more than 4096 bytes") || len(err.Error()) > 1000 {
			t.Errorf("%s: %.2000v", branch, err)
		}
	}
}

// What a repository calls its files reaches terminals in errors.
func TestTree_namesInErrors(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	name := "\x1b[2J\u202egod" + strings.Repeat("n", 3000)
	c.origin("main", c.commit(c.tree(entry{filemode.Dir, name, plumbing.NewHash("1234567890123456789012345678901234567890")})))
	tree := treeOf(t, c.open(""), "main")
	_, walked := list(tree)
	_, below := tree.Entry(name + "/a")
	_, none := tree.Entry("no" + name)
	for i, err := range []error{walked, below, none} {
		if err == nil || len(err.Error()) > 1000 || strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%d: %q", i, fmt.Sprintf("%.2000v", err))
		}
	}
}
