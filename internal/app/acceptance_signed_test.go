package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// signedChain lands in dev and staging by push, both in one push, and in prod by pull request.
const signedChain = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: [dev], land: push}
  staging: {paths: [staging], after: [dev], land: push}
  prod: {paths: [prod], after: [staging], land: pr}
`

// asApp has GitHub sign, and seals the state branch.
const asApp = "signing: {githubApp: true}\ncommitter: someone <someone@example.com>\n"

// gpgOf imports the key of a GitHub, with which git verifies.
func gpgOf(t *testing.T, github *githubtest.Server) (env []string) {
	t.Helper()
	for _, program := range []string{"git", "gpg"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	home, err := os.MkdirTemp("", "gpg") // the path of its socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	env = append(os.Environ(), "GNUPGHOME="+home, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	command := exec.CommandContext(t.Context(), "gpg", "--batch", "--no-autostart", "--import")
	command.Env, command.Stdin = env, strings.NewReader(github.SigningKey())
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("gpg: %v\n%s", err, output)
	}
	return env
}

// verifies has git verify all commits of promoter on a branch, and returns how many there are.
func verifies(t *testing.T, env []string, repo *githubtest.Repository, branch string) int {
	t.Helper()
	commits := strings.Fields(repo.Git.Run("log", "--format=%H", "--author=promoter", branch))
	for _, commit := range commits {
		command := exec.CommandContext(t.Context(), "git", "verify-commit", commit)
		command.Env, command.Dir = env, repo.Git.Dir()
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s on %s: %v\n%s", commit, branch, err, output)
		}
		if by := repo.Git.Run("log", "-1", "--format=%an, %cn <%ce>", commit); by != "promoter[bot], GitHub <noreply@github.com>" {
			t.Errorf("%s on %s is by %s", commit, branch, by)
		}
	}
	return len(commits)
}

// GitHub makes and signs all commits, with two requests each. A branch that moves between
// that and the push is a conflict, as without signatures: the reconciliation restarts.
func TestRun_commitsSignedByGitHub(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	env := gpgOf(t, o.github)
	files := map[string]string{".promoter.yaml": signedChain}
	for _, environment := range []string{"dev", "staging", "prod"} {
		files[environment+"/app.yaml"] = "image: $R/acme/web:1.4.0\n"
	}
	repo := o.repository("acme/gitops", files)
	o.app.Install("acme")
	more := asApp + `seal: {keys: ["file:` + o.write("seal", strings.Repeat("0123456789", 4)) + "\"]}\n"

	var moved string
	o.github.Traffic.Watch(func(route string) {
		if moved == "" && strings.Contains(route, "POST /repos/{owner}/{repo}/git/commits") {
			moved = "once"
			moved = repo.Git.Commit("ada", "main", "In between", map[string]string{"README": "words"})
		}
	})
	if got := did(o.run(more)["acme/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionPushed, outcome.ActionPushed, outcome.ActionOpened}) {
		t.Fatalf("did %s", got)
	}
	if on := repo.Git.Run("log", "--format=%H", "main"); moved == "" || !strings.Contains(on, moved) {
		t.Errorf("the commit %q of a user is lost:\n%s", moved, on)
	}
	if n := verifies(t, env, repo, "main"); n != 2 {
		t.Errorf("%d commits on main, want 2", n)
	}
	if n := verifies(t, env, repo, "main..promoter/prod/default"); n != 1 {
		t.Errorf("%d commits on the head, want 1", n)
	}

	// A second run writes nothing.
	refs := repo.Git.Run("for-each-ref")
	before := o.github.Traffic.Requests()
	if got := did(o.run(more)["acme/gitops"]); got != "[]" || repo.Git.Run("for-each-ref") != refs {
		t.Errorf("a second run: %s\n%s\n%s", got, refs, repo.Git.Run("for-each-ref"))
	}
	for route, n := range o.github.Traffic.Requests() {
		if strings.HasPrefix(route, "POST /repos/{owner}/{repo}/git/") && n != before[route] {
			t.Errorf("a second run sends %s", route)
		}
	}

	// A newer version rebuilds the head, on the condition that it did not move, and the state
	// branch is written.
	o.push("acme/web:1.6.0", "three")
	o.pass(time.Hour)
	o.run(more)
	if n := verifies(t, env, repo, "main"); n != 4 {
		t.Errorf("%d commits on main, want 4", n)
	}
	if n := verifies(t, env, repo, "main..promoter/prod/default"); n != 1 {
		t.Errorf("%d commits on the head, want 1", n)
	}
	if n := verifies(t, env, repo, "promoter/_state"); n == 0 {
		t.Error("no commit on the state branch is by the App")
	}

	// Merged, and the branch is removed: it is recognized as promoter's.
	repo.Pulls.Merge("ada", 1, "merge")
	o.run(more)
	if head := repo.Git.Head("promoter/prod/default"); head != "" {
		t.Errorf("the head %s is left", head)
	}
}
