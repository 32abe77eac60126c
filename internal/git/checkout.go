package git

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
	"promoter/internal/git/object"
)

// Checkout is a user's local clone, or a directory in it. It is only read.
type Checkout struct {
	repository *git.Repository
	prefix     string // path of the directory in the repository, slash-separated; empty for its root
}

// OpenCheckout opens the clone that contains a directory. It fails with NotFound if
// the directory is not in a clone.
func OpenCheckout(dir string) (*Checkout, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolve the directory %s: %w", dir, err)
	}
	resolved, err := filepath.EvalSymlinks(absolute) // a linked directory is in the clone of its target
	if err != nil {
		return nil, fmt.Errorf("resolve the directory %s: %w", dir, err)
	}
	repository, err := git.PlainOpenWithOptions(resolved, &git.PlainOpenOptions{
		DetectDotGit:          true,
		EnableDotGitCommonDir: true, // a linked worktree has its branches in the main one
	})
	if errors.Is(err, git.ErrRepositoryNotExists) {
		return nil, fault.New(fault.NotFound, "%s is not in a Git repository", dir)
	}
	if errors.Is(err, git.ErrUnknownExtension) { // of a sparse checkout or a partial clone
		return nil, fault.New(fault.Invalid, "open the Git repository of %s: %w: use a full clone without sparse checkout", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the Git repository of %s: %w", dir, err)
	}
	worktree, err := repository.Worktree()
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, fmt.Errorf("find the working tree of %s: %w", resolved, err))
	}
	root, err := filepath.EvalSymlinks(worktree.Filesystem.Root())
	if err != nil {
		return nil, fmt.Errorf("resolve the root of the Git repository: %w", err)
	}
	prefix, err := filepath.Rel(root, resolved)
	if err != nil || !filepath.IsLocal(prefix) {
		return nil, fault.New(fault.NotFound, "%s is not in the Git repository %s", resolved, root)
	}
	if prefix == "." {
		prefix = ""
	}
	return &Checkout{repository: repository, prefix: filepath.ToSlash(prefix)}, nil
}

// Branch returns the name of the branch that is checked out; empty if the head is
// detached.
func (c *Checkout) Branch() string {
	head, err := c.repository.Reference(plumbing.HEAD, false)
	if err != nil || head.Type() != plumbing.SymbolicReference {
		return ""
	}
	return head.Target().Short()
}

// originBranches is the prefix of origin's branches in a clone.
const originBranches = "refs/remotes/origin/"

// DetachedAt returns the branches of origin at the commit of a detached head, sorted.
// It returns none if a branch is checked out.
func (c *Checkout) DetachedAt() ([]string, error) {
	head, err := c.repository.Reference(plumbing.HEAD, false)
	if err != nil || head.Type() != plumbing.HashReference {
		return nil, nil //nolint:nilerr // a clone without a head has no commit
	}
	references, err := c.repository.References()
	if err != nil {
		return nil, fmt.Errorf("list the branches of the clone: %w", err)
	}
	var names []string
	err = references.ForEach(func(r *plumbing.Reference) error {
		name, remote := strings.CutPrefix(r.Name().String(), originBranches)
		if remote && r.Type() == plumbing.HashReference && r.Hash() == head.Hash() {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the branches of the clone: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// Remote returns the tree of a branch of origin as it was last fetched, at the
// directory of the Checkout. It fails with NotFound if the clone does not have the
// branch.
func (c *Checkout) Remote(branch string) (*object.Tree, error) {
	reference, err := c.repository.Reference(plumbing.NewRemoteReferenceName("origin", branch), true)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, fault.New(fault.NotFound, "origin/%s is not in this clone", branch)
	}
	if err != nil {
		return nil, fmt.Errorf("read the branch origin/%s: %w", branch, err)
	}
	commit, err := c.repository.CommitObject(reference.Hash())
	if err != nil {
		return nil, fmt.Errorf("read the commit of origin/%s: %w", branch, err)
	}
	return c.tree(commit.TreeHash, branch)
}

// tree returns the directory of the Checkout in a tree.
func (c *Checkout) tree(root plumbing.Hash, name string) (*object.Tree, error) {
	return object.New(c.repository.Storer, nil, object.NewCache()).Subtree(object.ID(root), c.prefix, name)
}

// Revision returns the tree of a commit that the clone has, at the directory of the
// Checkout. The revision is what 'git rev-parse' accepts: a commit, a tag, or a branch such
// as origin/main. It fails with NotFound if the clone does not have it.
func (c *Checkout) Revision(revision string) (*object.Tree, error) {
	found, err := c.repository.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return nil, fault.New(fault.NotFound, "%s is not in this clone: fetch it (%w)", revision, err)
	}
	commit, err := c.repository.CommitObject(*found)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fault.New(fault.NotFound, "the commit of %s is not in this clone: fetch it", revision)
	}
	if err != nil {
		return nil, fmt.Errorf("read the commit of %s: %w", revision, err)
	}
	return c.tree(commit.TreeHash, revision)
}

// Contains reports whether a branch of origin as it was last fetched contains a commit; empty: the commit that is
// checked out. It is false where the history of the clone does not show it.
func (c *Checkout) Contains(branch, commit string) bool {
	revision := plumbing.Revision("HEAD")
	if branch != "" {
		revision = plumbing.Revision(originBranches + branch)
	}
	tip, err := c.repository.ResolveRevision(revision)
	if err != nil {
		return false
	}
	head, err := c.repository.CommitObject(*tip)
	if err != nil {
		return false
	}
	wanted, err := c.repository.CommitObject(plumbing.NewHash(commit))
	if err != nil {
		return false
	}
	contains, err := wanted.IsAncestor(head)
	return err == nil && contains
}

// IsRoot reports whether the directory is the root of the clone.
func (c *Checkout) IsRoot() bool { return c.prefix == "" }

// DefaultBranch returns the name of origin's default branch. It fails with NotFound
// if the clone does not have it.
func (c *Checkout) DefaultBranch() (string, error) {
	head, err := c.repository.Reference(plumbing.NewRemoteHEADReferenceName("origin"), false)
	if err != nil || head.Type() != plumbing.SymbolicReference {
		return "", fault.New(fault.NotFound, "the clone does not have origin's default branch: run 'git remote set-head origin --auto'")
	}
	return strings.TrimPrefix(head.Target().String(), originBranches), nil
}
