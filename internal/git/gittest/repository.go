package gittest

import (
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Repository is one bare repository.
type Repository struct {
	git *Git
	dir string
}

// Dir returns its directory.
func (r *Repository) Dir() string { return r.dir }

// storer opens the repository in this process, which takes a tenth of the time of a git
// command. Each call opens it again, because git adds packs in between.
func (r *Repository) storer() *filesystem.Storage {
	return filesystem.NewStorage(osfs.New(r.dir), cache.NewObjectLRUDefault())
}

// Run runs git in it and returns what it prints, without the last line end.
func (r *Repository) Run(args ...string) string { return r.git.must(r.dir, args...) }

// Try is Run for commands that may fail.
func (r *Repository) Try(args ...string) (string, error) { return r.git.try(r.dir, args...) }

// DefaultBranch returns the branch of HEAD.
func (r *Repository) DefaultBranch() string {
	head, err := r.storer().Reference(plumbing.HEAD)
	check(err)
	return head.Target().Short()
}

// Head returns the commit of a branch, empty when there is none.
func (r *Repository) Head(branch string) string {
	ref, err := r.storer().Reference(plumbing.NewBranchReferenceName(branch))
	if err != nil {
		return ""
	}
	return ref.Hash().String()
}

// Commit finds a commit by its id or by the name of a branch or a tag.
func (r *Repository) Commit(name string) (id string, found bool) {
	repository, err := gogit.Open(r.storer(), nil)
	check(err)
	commit, err := repository.ResolveRevision(plumbing.Revision(name))
	if err != nil {
		return "", false
	}
	if _, err := repository.CommitObject(*commit); err != nil {
		return "", false
	}
	return commit.String(), true
}

// Heads returns the branches and their commits.
func (r *Repository) Heads() map[string]string {
	heads := map[string]string{}
	refs, err := r.storer().IterReferences()
	check(err)
	check(refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() {
			heads[ref.Name().Short()] = ref.Hash().String()
		}
		return nil
	}))
	return heads
}

// Update moves a branch; if old is set, only from that commit.
func (r *Repository) Update(branch, commit, old string) {
	args := []string{"update-ref", "refs/heads/" + branch, commit}
	if old != "" {
		args = append(args, old)
	}
	r.Run(args...)
}

// Delete deletes a branch.
func (r *Repository) Delete(branch string) { r.Run("update-ref", "-d", "refs/heads/"+branch) }

// Take fetches a branch of another repository, or of this one, to a ref of this one.
func (r *Repository) Take(from *Repository, branch, ref string) {
	if from == r {
		r.Run("update-ref", ref, "refs/heads/"+branch)
		return
	}
	r.Run("fetch", "--quiet", from.dir, "+refs/heads/"+branch+":"+ref)
}

// Ancestor reports whether a is reachable from b.
func (r *Repository) Ancestor(a, b string) bool {
	is, err := r.commit(a).IsAncestor(r.commit(b))
	check(err)
	return is
}

// Between lists the commits of head that base has not, oldest first.
func (r *Repository) Between(base, head string) []string {
	return strings.Fields(r.Run("rev-list", "--reverse", "--topo-order", base+".."+head))
}

// Message returns the message of a commit without trailing white space.
func (r *Repository) Message(commit string) string {
	return strings.TrimSpace(r.commit(commit).Message)
}

// Commit is what a commit holds.
type Commit struct {
	Tree, Message     string
	Parents           []string
	Author, Committer Author
}

// ReadCommit reads a commit.
func (r *Repository) ReadCommit(id string) Commit {
	found := r.commit(id)
	read := Commit{
		Tree: found.TreeHash.String(), Message: found.Message, Parents: []string{},
		Author: authorOf(found.Author), Committer: authorOf(found.Committer),
	}
	for _, parent := range found.ParentHashes {
		read.Parents = append(read.Parents, parent.String())
	}
	return read
}

func (r *Repository) commit(id string) *object.Commit {
	found, err := object.GetCommit(r.storer(), plumbing.NewHash(id))
	check(err)
	return found
}

// Write writes a commit of the tree and returns its id.
func (r *Repository) Write(tree, message string, by, committer Author, parents ...string) string {
	made := object.Commit{Author: by.signature(), Committer: committer.signature(), Message: message, TreeHash: plumbing.NewHash(tree)}
	for _, parent := range parents {
		made.ParentHashes = append(made.ParentHashes, plumbing.NewHash(parent))
	}
	id, err := store(r.storer(), made.Encode)
	check(err)
	return id.String()
}

// WithFiles returns the tree of a commit with these files changed. An empty commit ID
// stands for an empty tree.
func (r *Repository) WithFiles(commit string, files map[string]string) string {
	var base plumbing.Hash
	if commit != "" {
		base = r.commit(commit).TreeHash
	}
	tree, err := withFiles(r.storer(), base, files)
	check(err)
	return tree.String()
}

// Add commits files to a branch and returns the commit. A new branch starts at main,
// and main without a parent.
func (r *Repository) Add(branch, message string, by Author, files map[string]string) string {
	before := r.Head(branch)
	parent := before
	if parent == "" {
		parent = r.Head("main")
	}
	var parents []string
	if parent != "" {
		parents = append(parents, parent)
	}
	made := r.Write(r.WithFiles(parent, files), message, by, by, parents...)
	r.Update(branch, made, before)
	return made
}
