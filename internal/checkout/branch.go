package checkout

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/scan"
	"promoter/internal/updater"
)

// branch is where the files of some environments are read from.
type branch struct {
	name         string // empty: the default branch
	environments []string
	onDisk       bool         // the files are those of the folder, so apply can write them
	commit       *object.Tree // of origin's branch, if not on disk
	unavailable  string       // why the branch cannot be read; empty: it can
	tree         *scan.Tree
	paths        []string // of the files that were scanned
}

// branches groups the environments by branch, in their order.
func (c *Checkout) branches(environments []string) ([]*branch, error) {
	current, err := c.currentBranch()
	if err != nil {
		return nil, err
	}
	var branches []*branch
	for _, name := range environments {
		environment, _ := c.config.Environment(name)
		branchName := c.normalize(environment.Branch)
		i := slices.IndexFunc(branches, func(b *branch) bool { return b.name == branchName })
		if i < 0 {
			b, err := c.openBranch(branchName, branchName == current)
			if err != nil {
				return nil, err
			}
			i, branches = len(branches), append(branches, b)
		}
		branches[i].environments = append(branches[i].environments, name)
	}
	return branches, nil
}

func (c *Checkout) openBranch(name string, onDisk bool) (*branch, error) {
	b := &branch{name: name, onDisk: onDisk}
	if onDisk {
		return b, nil
	}
	if c.clone == nil {
		b.unavailable = fmt.Sprintf("branch %s: the folder is no Git clone", name)
		return b, nil
	}
	commit, err := c.remoteBranch(name)
	if fault.KindOf(err) == fault.NotFound {
		b.unavailable = fmt.Sprintf("%v: fetch it to see it", err)
		return b, nil
	}
	b.commit = commit
	return b, err
}

// remoteBranch returns the files of origin's branch as it was last fetched.
func (c *Checkout) remoteBranch(name string) (*object.Tree, error) {
	if name != "" {
		return c.clone.Remote(name)
	}
	name, err := c.clone.DefaultBranch()
	if err != nil {
		return nil, err
	}
	return c.clone.Remote(name)
}

// normalize returns the name of a branch, empty for the default branch.
func (c *Checkout) normalize(name string) string {
	if c.clone == nil || name == "" {
		return name
	}
	if defaultBranch, err := c.clone.DefaultBranch(); err == nil && defaultBranch == name {
		return ""
	}
	return name
}

// currentBranch returns the branch that the folder shows. A branch without
// environments, such as a feature branch, stands for the default branch.
//
// Pipelines check out commits. A commit that is the tip of one branch with
// environments, and not of the default branch, stands for that branch. If the clone
// does not know the default branch, no other branch may have the same tip.
func (c *Checkout) currentBranch() (string, error) {
	if c.clone == nil {
		return "", nil
	}
	hasEnvironment := func(branch string) bool {
		return slices.ContainsFunc(c.config.Environments, func(e config.Environment) bool { return e.Branch == branch })
	}
	if current := c.clone.Branch(); current != "" {
		if current = c.normalize(current); hasEnvironment(current) {
			return current, nil
		}
		return "", nil
	}
	tips, err := c.clone.DetachedAt()
	if err != nil {
		return "", err
	}
	defaultBranch, err := c.clone.DefaultBranch()
	if slices.Contains(tips, defaultBranch) || err != nil && len(tips) > 1 {
		return "", nil
	}
	tips = slices.DeleteFunc(tips, func(branch string) bool { return !hasEnvironment(branch) })
	if len(tips) != 1 {
		return "", nil
	}
	return tips[0], nil
}

// files yields the files of the branch.
func (b *branch) files(ctx context.Context, dir string) iter.Seq2[updater.File, error] {
	if b.onDisk {
		return folderFiles(ctx, dir)
	}
	return func(yield func(updater.File, error) bool) {
		for entry, err := range b.commit.Files() {
			file := scan.GitFile(entry, func() ([]byte, error) { return entry.Read(scan.ReadLimit) })
			if !yield(file, err) || err != nil {
				return
			}
		}
	}
}
