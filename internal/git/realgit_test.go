package git_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// gitEnv is the environment of Git without the person's own settings.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
}

// askGit runs Git in a repository and returns what it says.
func askGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return tellGit(t, dir, nil, args...)
}

// tellGit is askGit with something to read.
func tellGit(t testing.TB, dir string, input []byte, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir, command.Env = dir, gitEnv()
	command.Stdin = bytes.NewReader(input)
	var problems strings.Builder
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, output, problems.String())
	}
	return string(output)
}
