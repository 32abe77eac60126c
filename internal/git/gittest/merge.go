package gittest

import (
	"strings"
	"time"
)

// Landing is a head that is to land on a base, both commits.
type Landing struct {
	Base, Head string
	Message    string // of the commit that the forge makes
	// By is the author of that commit; a rebase keeps the authors. Committer is who
	// the forge says committed.
	By, Committer Author
}

// Merge returns the tree of both sides together, false when they conflict.
func (r *Repository) Merge(ours, theirs string) (tree string, clean bool) {
	out, err := r.Try("merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	return tree, err == nil
}

// MergeCommit makes a commit of two parents. Like the other ways of landing it
// moves no branch, and says false when the two conflict.
func (r *Repository) MergeCommit(l Landing) (commit string, clean bool) {
	tree, clean := r.Merge(l.Base, l.Head)
	if !clean {
		return "", false
	}
	return r.Write(tree, l.Message, l.By, l.Committer, l.Base, l.Head), true
}

// Squash makes one commit of all that the head brings.
func (r *Repository) Squash(l Landing) (commit string, clean bool) {
	tree, clean := r.Merge(l.Base, l.Head)
	if !clean {
		return "", false
	}
	return r.Write(tree, l.Message, l.By, l.Committer, l.Base), true
}

// Rebase writes every commit of the head anew on the base, with its message and
// its author at the committer's time.
func (r *Repository) Rebase(l Landing) (commit string, clean bool) {
	onto := l.Base
	for _, one := range r.Between(l.Base, l.Head) {
		tree, clean := r.Pick(one, onto)
		if !clean {
			return "", false
		}
		name, email, _ := strings.Cut(r.Run("log", "-1", "--format=%an%x00%ae", one), "\x00")
		by := Author{Name: name, Email: email, At: l.Committer.At}
		onto = r.Write(tree, r.Message(one), by, l.Committer, onto)
	}
	return onto, true
}

// Pick applies one commit on top of another, false when it conflicts. A stand-in
// for the target with the picked commit's parent makes the merge base right, which
// git 2.39 takes from history only.
func (r *Repository) Pick(commit, onto string) (tree string, clean bool) {
	nobody := Author{Name: "t", Email: "t", At: time.Unix(0, 0)}
	return r.Merge(r.Write(onto+"^{tree}", "stand-in", nobody, nobody, commit+"^"), commit)
}
