package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Repository is one bare repository.
type Repository struct {
	git *Git
	dir string
}

// Dir returns its directory.
func (r *Repository) Dir() string { return r.dir }

// Run runs git in it and returns what it prints, without the last line end.
func (r *Repository) Run(args ...string) string { return r.git.must(r.dir, nil, "", args...) }

// Try is Run for commands that may fail.
func (r *Repository) Try(args ...string) (string, error) { return r.git.try(r.dir, nil, "", args...) }

// Head returns the commit of a branch, empty when there is none.
func (r *Repository) Head(branch string) string {
	commit, _ := r.resolve("refs/heads/" + branch)
	return commit
}

// Commit finds a commit by its id or by the name of a branch or a tag.
func (r *Repository) Commit(name string) (id string, found bool) {
	return r.resolve(name + "^{commit}")
}

func (r *Repository) resolve(name string) (string, bool) {
	out, err := r.Try("rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if err != nil {
		return "", false
	}
	return out, true
}

// Heads returns the branches and their commits.
func (r *Repository) Heads() map[string]string {
	heads := map[string]string{}
	for line := range strings.Lines(r.Run("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/")) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[strings.TrimPrefix(name, "refs/heads/")] = commit
	}
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
	_, err := r.Try("merge-base", "--is-ancestor", a, b)
	return err == nil
}

// Between lists the commits of head that base has not, oldest first.
func (r *Repository) Between(base, head string) []string {
	return strings.Fields(r.Run("rev-list", "--reverse", "--topo-order", base+".."+head))
}

// Message returns the message of a commit without trailing white space.
func (r *Repository) Message(commit string) string {
	return strings.TrimSpace(r.Run("log", "-1", "--format=%B", commit))
}

// Write writes a commit of the tree and returns its id.
func (r *Repository) Write(tree, message string, by, committer Author, parents ...string) string {
	args := []string{"commit-tree", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return r.git.must(r.dir, append(by.environment("AUTHOR"), committer.environment("COMMITTER")...), message, args...)
}

// WithFiles returns the tree of a commit with these files changed. An empty commit ID
// stands for an empty tree.
func (r *Repository) WithFiles(commit string, files map[string]string) string {
	index := filepath.Join(r.dir, "index.support")
	defer func() { _ = os.Remove(index) }()
	env := []string{"GIT_INDEX_FILE=" + index}
	if commit != "" {
		r.git.must(r.dir, env, "", "read-tree", commit)
	}
	var lines strings.Builder
	for name, content := range files {
		blob := r.git.must(r.dir, env, content, "hash-object", "-w", "--stdin")
		fmt.Fprintf(&lines, "100644 %s\t%s\n", blob, name)
	}
	r.git.must(r.dir, env, lines.String(), "update-index", "--add", "--index-info")
	return r.git.must(r.dir, env, "", "write-tree")
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
