// Package git reads and writes Git at the level of objects: trees, blobs and
// commits, never a working tree. A Mirror is a bare copy of branches of a remote,
// with what it takes to fetch, to read, to write commits and to push them. A
// Checkout shows the branches that a person's clone has at hand.
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
)

// Checkout is a person's clone, or a folder inside one. Nothing is fetched and
// nothing is written.
type Checkout struct {
	repository *git.Repository
	prefix     string // the folder's path inside the repository, slash separated; empty for its root
}

// OpenCheckout opens the clone that dir lies in. A folder outside every clone is
// a NotFound fault.
func OpenCheckout(dir string) (*Checkout, error) {
	folder, err := realPath(dir) // the clone around a linked folder is the one around its target
	if err != nil {
		return nil, err
	}
	repository, err := git.PlainOpenWithOptions(folder, &git.PlainOpenOptions{
		DetectDotGit:          true,
		EnableDotGitCommonDir: true, // a linked worktree keeps its branches in the main one
	})
	if errors.Is(err, git.ErrRepositoryNotExists) {
		return nil, fault.New(fault.NotFound, "%s lies in no Git repository", dir)
	}
	if errors.Is(err, git.ErrUnknownExtension) {
		// Sparse checkouts and partial clones set one.
		return nil, fault.New(fault.Invalid, "open the Git repository of %s: %w: use a full clone without sparse checkout", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the Git repository of %s: %w", dir, err)
	}
	prefix, err := prefixOf(repository, folder)
	if err != nil {
		return nil, err
	}
	return &Checkout{repository: repository, prefix: prefix}, nil
}

// prefixOf returns where the folder lies inside the repository's working tree.
func prefixOf(repository *git.Repository, folder string) (string, error) {
	worktree, err := repository.Worktree()
	if err != nil {
		return "", fault.Wrap(fault.NotFound, fmt.Errorf("find the working tree of %s: %w", folder, err))
	}
	root, err := filepath.EvalSymlinks(worktree.Filesystem.Root())
	if err != nil {
		return "", fmt.Errorf("resolve the root of the Git repository: %w", err)
	}
	relative, err := filepath.Rel(root, folder)
	if err != nil || !filepath.IsLocal(relative) {
		return "", fault.New(fault.NotFound, "%s lies outside the Git repository %s", folder, root)
	}
	if relative == "." {
		return "", nil
	}
	return filepath.ToSlash(relative), nil
}

// realPath returns the absolute path of dir without symbolic links.
func realPath(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve the folder %s: %w", dir, err)
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", fmt.Errorf("resolve the folder %s: %w", dir, err)
	}
	return resolved, nil
}

// Branch returns the name of the branch that is checked out, and nothing when
// the head is detached.
func (c *Checkout) Branch() string {
	head, err := c.repository.Reference(plumbing.HEAD, false)
	if err != nil || head.Type() != plumbing.SymbolicReference {
		return ""
	}
	return head.Target().Short()
}

// DetachedAt returns origin's branches whose commit a detached head is at, sorted:
// what it may stand for. None when a branch is checked out.
func (c *Checkout) DetachedAt() ([]string, error) {
	head, err := c.repository.Reference(plumbing.HEAD, false)
	if err != nil || head.Type() != plumbing.HashReference {
		return nil, nil //nolint:nilerr // a clone without a head has no commit either
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

// originBranches is where the clone keeps origin's branches.
const originBranches = "refs/remotes/origin/"

// Remote returns the tree of origin's branch as it was last fetched. A branch
// that is not at hand is a NotFound fault.
func (c *Checkout) Remote(branch string) (*Tree, error) {
	name := plumbing.NewRemoteReferenceName("origin", branch)
	reference, err := c.repository.Reference(name, true)
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
	return c.treeOf(ID(commit.TreeHash), branch)
}

// treeOf returns the tree, entered at the checkout's folder. A folder that the
// branch does not have is an empty tree.
func (c *Checkout) treeOf(tree ID, branch string) (*Tree, error) {
	read := &objects{store: c.repository.Storer}
	if _, err := read.tree(tree); err != nil {
		return nil, fmt.Errorf("read the tree of %s: %w", branch, err)
	}
	root, err := read.folder(tree, c.prefix)
	if err != nil {
		return nil, fmt.Errorf("read the folder %s of %s: %w", c.prefix, branch, err)
	}
	return &Tree{objects: read, root: root, name: branch, limit: maxSize()}, nil
}

// DefaultBranch returns the name of origin's default branch, as the clone
// remembers it. A clone that does not is a NotFound fault.
func (c *Checkout) DefaultBranch() (string, error) {
	head, err := c.repository.Reference(plumbing.NewRemoteHEADReferenceName("origin"), false)
	if err != nil || head.Type() != plumbing.SymbolicReference {
		return "", fault.New(fault.NotFound, "the clone does not know origin's default branch; 'git remote set-head origin --auto' tells it")
	}
	return strings.TrimPrefix(head.Target().String(), originBranches), nil
}
