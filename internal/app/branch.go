package app

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/scan"
	"promoter/internal/updater"
)

// branch is where the files of some environments are read from.
type branch struct {
	name         string // empty: the default branch
	environments []string
	onDisk       bool       // the files are those of the folder, so apply can write them
	away         string     // why the branch is not at hand; empty when it is
	commit       *git.Tree  // unless it is on disk
	tree         *scan.Tree // nil: not scanned
}

// branches groups the environments by branch, in the order of the environments.
func (c *Checkout) branches(environments []string) ([]*branch, error) {
	here, err := c.here()
	if err != nil {
		return nil, err
	}
	byName := map[string]*branch{}
	var ordered []*branch
	for _, name := range environments {
		environment, _ := c.config.Environment(name)
		branchName := c.canonical(environment.Branch)
		b, ok := byName[branchName]
		if !ok {
			if b, err = c.openBranch(branchName, here); err != nil {
				return nil, err
			}
			byName[branchName] = b
			ordered = append(ordered, b)
		}
		b.environments = append(b.environments, name)
	}
	return ordered, nil
}

// openBranch finds the files of a branch: those of the folder when it is the one
// here, else the objects of origin's branch.
func (c *Checkout) openBranch(name, here string) (*branch, error) {
	b := &branch{name: name}
	if name == here {
		b.onDisk = true
		return b, nil
	}
	if c.clone == nil {
		b.away = fmt.Sprintf("branch %s: the folder is no Git clone", name)
		return b, nil
	}
	tree, err := c.remote(name)
	if fault.KindOf(err) == fault.NotFound {
		b.away = fmt.Sprintf("%v: fetch it to see it", err)
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	b.commit = tree
	return b, nil
}

// canonical gives the default branch its one name, the empty one.
func (c *Checkout) canonical(name string) string {
	if c.clone == nil || name == "" {
		return name
	}
	if byDefault, err := c.clone.DefaultBranch(); err == nil && byDefault == name {
		return ""
	}
	return name
}

// here returns the branch that the folder shows. A branch that no environment
// names, such as a person's own, stands for the default branch.
func (c *Checkout) here() (string, error) {
	if c.clone == nil {
		return "", nil
	}
	current := c.clone.Branch()
	if current == "" {
		return c.detached()
	}
	if current = c.canonical(current); c.hasEnvironment(current) {
		return current, nil
	}
	return "", nil
}

func (c *Checkout) hasEnvironment(branch string) bool {
	return slices.ContainsFunc(c.config.Environments, func(e config.Environment) bool { return e.Branch == branch })
}

// detached returns the branch that a detached head stands for. Pipelines check
// out commits: one that is the tip of a single branch with environments, and not
// the tip of the default branch, is that branch. Where the clone does not know
// which the default branch is, no other branch may have the same tip.
func (c *Checkout) detached() (string, error) {
	at, err := c.clone.DetachedAt()
	if err != nil {
		return "", err
	}
	byDefault, err := c.clone.DefaultBranch()
	if slices.Contains(at, byDefault) || err != nil && len(at) > 1 {
		return "", nil
	}
	at = slices.DeleteFunc(at, func(branch string) bool { return !c.hasEnvironment(branch) })
	if len(at) != 1 {
		return "", nil
	}
	return at[0], nil
}

func (c *Checkout) remote(name string) (*git.Tree, error) {
	if name == "" {
		var err error
		if name, err = c.clone.DefaultBranch(); err != nil {
			return nil, err
		}
	}
	return c.clone.Remote(name)
}

// files yields the files of the branch but the config: it says what is followed,
// and nothing in it is deployed.
func (b *branch) files(ctx context.Context, dir string) iter.Seq2[updater.File, error] {
	files := treeFiles(b.commit)
	if b.onDisk {
		files = newFolder(dir).files(ctx)
	}
	return func(yield func(updater.File, error) bool) {
		for file, err := range files {
			if file.Path != ConfigFile && !yield(file, err) {
				return
			}
		}
	}
}

// treeFiles shows the entries of a Git tree as files.
func treeFiles(tree *git.Tree) iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for entry, err := range tree.Files() {
			file := scan.GitFile(entry, func() ([]byte, error) { return entry.Read(scan.ReadLimit) })
			if !yield(file, err) || err != nil {
				return
			}
		}
	}
}
