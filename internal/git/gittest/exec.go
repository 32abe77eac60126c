package gittest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Environ is the environment of git without the user's own settings, with an author.
func Environ() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
}

// TryExec runs git in a directory, and returns all that it prints and whether it failed.
func TryExec(t testing.TB, dir string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir, command.Env = dir, Environ()
	output, err := command.CombinedOutput()
	return string(output), err
}

// Exec runs git in a directory and returns its output.
func Exec(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return ExecWithInput(t, dir, "", args...)
}

// ExecWithInput is Exec with standard input.
func ExecWithInput(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir, command.Env, command.Stdin = dir, Environ(), strings.NewReader(input)
	var errs strings.Builder
	command.Stderr = &errs
	output, err := command.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, output, errs.String())
	}
	return string(output)
}
