package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"promoter/internal/git"
)

func TestConfiguredUser_isThatOfTheRepositoryElseOfTheUser(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	global := write("global", "[user]\n\temail = ann@example.com\n")
	env := func(name string) (string, bool) { return global, name == "GIT_CONFIG_GLOBAL" }
	checkout := filepath.Join(folder, "checkout", "apps")
	write("checkout/apps/a.yaml", "a: 1\n")
	if got := git.ConfiguredUser(checkout, env); got != "ann@example.com" {
		t.Errorf("without a repository: %q", got)
	}
	write("checkout/.git/HEAD", "ref: refs/heads/main\n")
	write("checkout/.git/config", "[core]\n\trepositoryformatversion = 0\n[user]\n\tname = Ann\n")
	for _, part := range []string{"objects", "refs"} {
		write("checkout/.git/"+part+"/.keep", "")
	}
	if got := git.ConfiguredUser(checkout, env); got != "Ann" {
		t.Errorf("in a repository: %q", got)
	}
	none := func(string) (string, bool) { return filepath.Join(folder, "missing"), true }
	if got := git.ConfiguredUser(folder, none); got != "" {
		t.Errorf("without any: %q", got)
	}
}
