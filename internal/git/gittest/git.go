package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// Git runs git in bare repositories below one directory of a test.
type Git struct {
	path    string
	backend string // the program git-http-backend
	root    string
}

// New finds git, or skips the test.
func New(t testing.TB) *Git {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not on PATH")
	}
	g := &Git{path: path, root: t.TempDir()}
	g.backend = filepath.Join(g.must(g.root, "--exec-path"), "git-http-backend")
	return g
}

// Author is the author or the committer of a commit, and the time.
type Author struct {
	Name, Email string
	At          time.Time
}

func (a Author) signature() object.Signature {
	return object.Signature{Name: a.Name, Email: a.Email, When: a.At.UTC()}
}

func authorOf(by object.Signature) Author {
	return Author{Name: by.Name, Email: by.Email, At: by.When}
}

// environment excludes the configuration of the machine.
func (g *Git) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"LC_ALL=C",
	}
}

// try runs git and returns its output without the last line feed.
func (g *Git) try(dir string, args ...string) (string, error) {
	return g.tryWith(nil, "", dir, args...)
}

// tryWith is try with more variables and standard input.
func (g *Git) tryWith(env []string, input, dir string, args ...string) (string, error) {
	command := exec.Command(g.path, args...) //nolint:noctx // it ends by itself in milliseconds
	command.Dir, command.Env, command.Stdin = dir, append(g.environment(), env...), strings.NewReader(input)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return strings.TrimSuffix(out.String(), "\n"), fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func (g *Git) must(dir string, args ...string) string {
	out, err := g.try(dir, args...)
	check(err)
	return out
}

// check panics with the first error.
func check(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

// Setup is how a forge configures its repositories.
type Setup struct {
	// Hidden are the refs that no push may touch, for instance refs/pull.
	Hidden []string
	// Refusal is what git prints for a push to a protected branch, line by line.
	// BRANCH is replaced by its name.
	Refusal []string
}

// Init creates an empty bare repository whose first branch will be main, with the
// settings of a forge. The name is that of its directory.
func (g *Git) Init(name string, setup Setup) *Repository {
	r := &Repository{git: g, dir: filepath.Join(g.root, name+".git")}
	g.must(g.root, "init", "--quiet", "--bare", "--initial-branch=main", "--template=", r.dir)
	var config strings.Builder
	// No garbage collection in the background, which could outlive the test.
	config.WriteString("[http]\n\treceivepack = true\n[receive]\n\tautogc = false\n\tdenyDeleteCurrent = ignore\n")
	for _, ref := range setup.Hidden {
		config.WriteString("\thideRefs = " + ref + "\n")
	}
	config.WriteString("[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n[gc]\n\tauto = 0\n")
	file, err := os.OpenFile(filepath.Join(r.dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	check(err)
	_, err = file.WriteString(config.String())
	check(err, file.Close())
	r.refuse(setup.Refusal)
	return r
}
