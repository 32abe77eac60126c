package githubtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gitProgram runs git in bare repositories below one folder.
type gitProgram struct {
	path string
	root string
}

func findGit(t testing.TB) *gitProgram {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not on PATH")
	}
	return &gitProgram{path: path, root: t.TempDir()}
}

// author is who a commit is by.
type author struct {
	name, email string
	at          time.Time
}

func (a author) environment(role string) []string {
	return []string{
		"GIT_" + role + "_NAME=" + a.name, "GIT_" + role + "_EMAIL=" + a.email,
		fmt.Sprintf("GIT_%s_DATE=@%d +0000", role, a.at.Unix()),
	}
}

// environment keeps the configuration of the machine out.
func (g *gitProgram) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"LC_ALL=C",
	}
}

// folder is where a repository lies.
func (g *gitProgram) folder(id int64) string {
	return filepath.Join(g.root, fmt.Sprintf("%d.git", id))
}

// try runs git and returns what it prints, without the last line end.
func (g *gitProgram) try(dir string, extra []string, stdin string, args ...string) (string, error) {
	command := exec.Command(g.path, args...) //nolint:noctx // it ends by itself in milliseconds
	command.Dir = dir
	command.Env = append(g.environment(), extra...)
	command.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return strings.TrimSuffix(out.String(), "\n"), fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// run is try for what must not fail; act and serveAPI take the panic.
func (g *gitProgram) run(dir string, args ...string) string {
	out, err := g.try(dir, nil, "", args...)
	if err != nil {
		panic(err)
	}
	return out
}

// initialise makes a bare repository that allows what GitHub allows.
func (g *gitProgram) initialise(dir string) {
	g.run(g.root, "init", "--quiet", "--bare", "--initial-branch=main", dir)
	config := "[http]\n\treceivepack = true\n[receive]\n\thideRefs = refs/pull\n\tdenyDeleteCurrent = ignore\n" +
		"[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n[gc]\n\tauto = 0\n"
	file, err := os.OpenFile(filepath.Join(dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(config)
		err = firstError(err, file.Close())
	}
	hook := filepath.Join(dir, "hooks", "pre-receive")
	err = firstError(err, os.MkdirAll(filepath.Dir(hook), 0o750))
	err = firstError(err, os.WriteFile(hook, []byte(preReceive), 0o700)) //nolint:gosec // git runs it
	if err != nil {
		panic(err)
	}
}

// preReceive refuses pushes to the branches named in the file "protected", in the
// words of GitHub.
const preReceive = `#!/bin/sh
[ -f protected ] || exit 0
while read -r old new ref; do
  if grep -qxF "$ref" protected; then
    echo "error: GH006: Protected branch update failed for $ref." >&2
    echo "error: Changes must be made through a pull request." >&2
    exit 1
  fi
done
`

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// heads returns the branches and their commits.
func (g *gitProgram) heads(dir string) map[string]string {
	heads := map[string]string{}
	for line := range strings.Lines(g.run(dir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/")) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[strings.TrimPrefix(name, "refs/heads/")] = commit
	}
	return heads
}

// ancestor says whether a can be reached from b.
func (g *gitProgram) ancestor(dir, a, b string) bool {
	_, err := g.try(dir, nil, "", "merge-base", "--is-ancestor", a, b)
	return err == nil
}

// merge returns the tree of both sides together, false when they conflict.
func (g *gitProgram) merge(dir, ours, theirs string) (string, bool) {
	out, err := g.try(dir, nil, "", "merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs)
	tree, _, _ := strings.Cut(out, "\n")
	return tree, err == nil
}

// commit writes a commit of the tree and returns its id.
func (g *gitProgram) commit(dir, tree, message string, by, committer author, parents ...string) string {
	args := []string{"commit-tree", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	env := append(by.environment("AUTHOR"), committer.environment("COMMITTER")...)
	out, err := g.try(dir, env, message, args...)
	if err != nil {
		panic(err)
	}
	return out
}

// pick applies one commit on top of another, false when it conflicts. A
// stand-in for the target with the picked commit's parent makes the merge base
// right, which git 2.39 takes from history only.
func (g *gitProgram) pick(dir, commit, onto string) (string, bool) {
	nobody := author{name: "t", email: "t", at: time.Unix(0, 0)}
	standIn := g.commit(dir, onto+"^{tree}", "stand-in", nobody, nobody, commit+"^")
	return g.merge(dir, standIn, commit)
}

// between lists the commits of head that base has not, oldest first.
func (g *gitProgram) between(dir, base, head string) []string {
	return strings.Fields(g.run(dir, "rev-list", "--reverse", "--topo-order", base+".."+head))
}

// withFile returns the tree of a commit with one file changed. An empty commit is
// an empty tree.
func (g *gitProgram) withFile(dir, commit string, files map[string]string) string {
	index := filepath.Join(dir, "index.support")
	defer func() { _ = os.Remove(index) }()
	env := []string{"GIT_INDEX_FILE=" + index}
	must := func(stdin string, args ...string) string {
		out, err := g.try(dir, env, stdin, args...)
		if err != nil {
			panic(err)
		}
		return out
	}
	if commit != "" {
		must("", "read-tree", commit)
	}
	var lines strings.Builder
	for name, content := range files {
		blob := must(content, "hash-object", "-w", "--stdin")
		fmt.Fprintf(&lines, "100644 %s\t%s\n", blob, name)
	}
	must(lines.String(), "update-index", "--add", "--index-info")
	return must("", "write-tree")
}
