package serverfile

import (
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
)

// Any server may be a Gitea: the environment variables name it.
func TestOpenServer_onGitea(t *testing.T) {
	t.Parallel()
	const base = "https://git.example.com/forge"
	environment := func(values map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { value, set := values[name]; return value, set }
	}
	for address, test := range map[string]struct {
		kind serverconfig.ForgeKind
		name string
	}{
		base + "/acme/gitops.git":            {serverconfig.ForgeGitea, "acme/gitops"},
		"https://git.example.com/acme/other": {serverconfig.ForgeGit, "https://git.example.com/acme/other"},
	} {
		s, err := OpenServer(Options{
			Repositories: []string{address}, Now: time.Now,
			Env: environment(map[string]string{giteaURLVariable: base + "/", giteaTokenVariable: "canary"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Targets[0]; got.Forge.Kind != test.kind || got.Name != test.name || test.kind == serverconfig.ForgeGitea && got.Forge.URL != base {
			t.Errorf("%s: %+v", address, got)
		}
	}
	_, err := OpenServer(Options{
		Repositories: []string{base + "/acme/gitops"}, Now: time.Now, Env: environment(map[string]string{giteaURLVariable: base}),
	})
	if err == nil || !strings.Contains(err.Error(), "set "+giteaTokenVariable) {
		t.Errorf("got %v", err)
	}
}
