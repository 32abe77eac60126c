package git

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// Draft is a commit to be written: what changes against its parent, by whom and
// why.
type Draft struct {
	Parent    ID                // zero: the commit has no parent and starts from no file
	Write     map[string][]byte // new contents by path; a new file is a regular one, an old one keeps its mode
	Delete    []string          // paths of files; a folder goes with its last one
	Author    Signature
	Committer Signature
	Message   string // subject and body
	Trailers  Trailers
}

// Write stores the commit, and the blobs and trees that it needs and that are not
// here yet. A draft that changes nothing returns its parent; no parent and no file
// is Invalid. So are paths that Git would not check out, paths that lie below a
// file or a link, and those that are a folder, a link or a submodule now. A file
// to be deleted that is not there is a NotFound fault.
func (o *objects) Write(draft Draft) (ID, error) {
	header, err := draft.header()
	if err != nil {
		return ID{}, err
	}
	changes, err := changesOf(draft)
	if err != nil {
		return ID{}, err
	}
	var old ID
	if !draft.Parent.IsZero() {
		parent, err := o.Commit(draft.Parent)
		if err != nil {
			return ID{}, err
		}
		old = parent.Tree
	}
	tree, err := o.rewrite(old, changes, "")
	if err != nil {
		return ID{}, err
	}
	if tree.IsZero() && !old.IsZero() { // no file is left
		if tree, err = o.write(plumbing.TreeObject, nil); err != nil {
			return ID{}, err
		}
	}
	if tree == old {
		return draft.unchanged()
	}
	return o.write(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\n%s", tree, header))
}

func (d Draft) unchanged() (ID, error) {
	if d.Parent.IsZero() {
		return ID{}, fault.New(fault.Invalid, "a first commit needs a file")
	}
	return d.Parent, nil
}

// header returns what follows the tree in the commit.
func (d Draft) header() (string, error) {
	author, err := d.Author.line()
	if err != nil {
		return "", fmt.Errorf("the author: %w", err)
	}
	committer, err := d.Committer.line()
	if err != nil {
		return "", fmt.Errorf("the committer: %w", err)
	}
	message, err := d.Trailers.Message(d.Message)
	if err != nil {
		return "", err
	}
	header := "author " + author + "\ncommitter " + committer + "\n\n" + message
	if d.Parent.IsZero() {
		return header, nil
	}
	return "parent " + d.Parent.String() + "\n" + header, nil
}
