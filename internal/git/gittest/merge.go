package gittest

import (
	"strings"
	"time"
)

// Landing is a merge of a head into a base, both commits.
type Landing struct {
	Base, Head string
	Message    string // of the commit that the forge makes
	// By is the author of that commit; a rebase keeps the authors. Committer is the
	// committer that the forge records.
	By, Committer Author
}

// Merge returns the merged tree, and false if the sides conflict.
func (r *Repository) Merge(ours, theirs string) (tree string, clean bool) {
	out, err := r.Try("merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	return tree, err == nil
}

// MergeCommit creates a commit with two parents. Like Squash and Rebase, it moves no
// branch and returns false if the two conflict.
func (r *Repository) MergeCommit(l Landing) (commit string, clean bool) {
	tree, clean := r.Merge(l.Base, l.Head)
	if !clean {
		return "", false
	}
	return r.Write(tree, l.Message, l.By, l.Committer, l.Base, l.Head), true
}

// Squash creates one commit with all changes of the head.
func (r *Repository) Squash(l Landing) (commit string, clean bool) {
	tree, clean := r.Merge(l.Base, l.Head)
	if !clean {
		return "", false
	}
	return r.Write(tree, l.Message, l.By, l.Committer, l.Base), true
}

// Rebase writes every commit of the head again on top of the base, with its message
// and its author, at the committer's time.
func (r *Repository) Rebase(l Landing) (commit string, clean bool) {
	onto := l.Base
	for _, one := range r.Between(l.Base, l.Head) {
		tree, clean := r.Pick(one, onto)
		if !clean {
			return "", false
		}
		by := r.ReadCommit(one).Author
		by.At = l.Committer.At
		onto = r.Write(tree, r.Message(one), by, l.Committer, onto)
	}
	return onto, true
}

// Pick applies one commit on top of another and returns false if it conflicts. It
// merges with a copy of the target whose parent is that of the picked commit, because
// git 2.39 takes the merge base only from history.
func (r *Repository) Pick(commit, onto string) (tree string, clean bool) {
	by := Author{Name: "t", Email: "t", At: time.Unix(0, 0)}
	copied := r.Write(r.ReadCommit(onto).Tree, "copy", by, by, r.ReadCommit(commit).Parents[0])
	return r.Merge(copied, commit)
}
